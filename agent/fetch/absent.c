/*
 * absent - stands in for what Debian's libcurl.a calls and the agent never uses.
 *
 * That archive also speaks LDAP, RTMP, SFTP, HTTP/2 and more. Only http and https are ever asked
 * for (CURLOPT_PROTOCOLS_STR, HTTP/1.1), so the packaged program is linked without those
 * libraries, and all their names lead here: "0, nothing there" is what their initialisers expect.
 */
long fetch_absent(void);

long fetch_absent(void)
{
	return 0;
}
