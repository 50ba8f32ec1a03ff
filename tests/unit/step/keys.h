/* keys - two OpenPGP keys made for these tests; nothing is signed by them. */
#pragma once

#define KEY_ONE_ID "C12539F560552C841F56A6400911A0B616A65B6C"
#define KEY_TWO_ID "AED1F8787F066A42B37E8B07E7022B914B842D0B"

#define KEY_ONE                                                              \
	"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"                           \
	"mDMEaw3NIhYJKwYBBAHaRw8BAQdAq9USAU5utAw6LnUJEeW8mHWoJFgjfTg8uUth\n" \
	"u1wCjOi0DFN0YW5kLWluIE9uZYiQBBMWCAA4FiEEwSU59WBVLIQfVqZACRGgtham\n" \
	"W2wFAmsNzSICGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQCRGgthamW2xZ\n" \
	"dQEArI+0rhHGpIs0V9Upff1214Lb3AIq3uyZ2HmD7Gkx2ssBANaFDFrjx4Dukpb5\n" \
	"LsY7cZT8GQt7CDYLsT8VTKtEOu0G\n=1Jhc\n-----END PGP PUBLIC KEY BLOCK-----\n"

#define KEY_TWO                                                              \
	"-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: none\n\n"            \
	"mDMEaw3NIhYJKwYBBAHaRw8BAQdAoybpRYdYDgKiOgxmRmprmehZX1YKQEazDuiW\n" \
	"xlOEVIu0DFN0YW5kLWluIFR3b4iQBBMWCAA4FiEErtH4eH8GakKzfosH5wIrkUuE\n" \
	"LQsFAmsNzSICGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQ5wIrkUuELQvR\n" \
	"BgEAkWc+1OFswZpxF2l/FPyx/YIr90sHIzfm5avRLbu8n/YA/1Nweo4pyq5ZscOX\n" \
	"4tstb9uKFMaxFmJ7brd+6whP7joG\n=9SK3\n-----END PGP PUBLIC KEY BLOCK-----\n"
