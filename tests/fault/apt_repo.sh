# shellcheck shell=sh
# apt_repo.sh: a repository of stand-in packages for tests, source after check.sh.
#
#	repo_key                  # makes a key: ./lab.asc, and its $FINGERPRINT
#	deb gpu 1.0 'Depends: x' 'exit 1'   # ./debs/gpu_1.0.deb, with a field and a postinst
#	publish FOLDER            # signs the index of what lies there
# Needs apt-ftparchive, dpkg-deb and gpg.

repo_key() {
	export GNUPGHOME="$PWD/gpg"
	mkdir -m 700 gpg
	gpg --batch --quiet --passphrase '' --quick-gen-key 'Lab' ed25519 sign never 2> gpg.log ||
		skip "gpg does not work: $(cat gpg.log)"
	gpg --export --armor Lab > lab.asc
	# shellcheck disable=SC2034 # used by the tests
	FINGERPRINT=$(gpg --list-keys --with-colons 2> gpg.log | sed -n 's/^fpr:*\([0-9A-F]*\):$/\1/p' | head -n 1)
}

deb() { # NAME VERSION [FIELD [POSTINST]]: into ./debs
	mkdir -p "deb/DEBIAN" "deb/usr/share/standin" debs
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\n' "$1" "$2"
		printf 'Description: stand-in\n'
		[ -z "${3:-}" ] || printf '%s\n' "$3"
	} > deb/DEBIAN/control
	[ -z "${4:-}" ] || {
		printf '#!/bin/sh\n%s\n' "$4" > deb/DEBIAN/postinst
		chmod 755 deb/DEBIAN/postinst
	}
	echo "$2" > "deb/usr/share/standin/$1"
	[ "$1" != big ] || head -c 40000000 /dev/urandom > deb/usr/share/standin/big.bin
	dpkg-deb --root-owner-group -Zgzip -b deb "debs/$1_$2.deb" > /dev/null
	rm -r deb
}

publish() { # FOLDER [FIELD]: signs its index; FIELD: one more of the Release file
	(
		cd "$1" || exit
		rm -f Packages Packages.gz Release InRelease
		apt-ftparchive packages . > Packages
		{
			[ -z "${2:-}" ] || printf '%s\n' "$2"
			apt-ftparchive release .
		} > ../Release
		mv ../Release Release
		gpg --batch --quiet --yes --clearsign -o InRelease Release
	) || fail 'publishing the repository'
}
