#!/bin/sh
# install.sh SHA256 UNPACK NAME SIGN-KEY KEY-TYPE KEY < ARCHIVE - the agent onto this node, all or nothing.
#
# Run over SSH by "stoika agent install". Everything is prepared beside its place first; only when
# all of it is there are the names switched. What the node had before stays if anything fails.
set -eu
umask 022
export LC_ALL=C
sha=$1 unpack=$2 name=$3 sign=$4 key="$5 $6"

top=/opt/stoika
short=$(echo "$sha" | cut -c1-12)
new=$top/agent-$short
made=$top/.new-$short.$$
etc=/etc/stoika-agent
units=/etc/systemd/system unit=stoika-agent-resume.service
state=/var/lib/stoika-agent
command='/opt/stoika/agent/bin/stoika-agent serve'
home=$(awk -F: '$3 == 0 { print $6; exit }' /etc/passwd)
fresh=no

undo() {
	rm -rf "$made" "$made.tar" "$top/.agent.$$" "$etc/.pub.$$" "$etc/.unit.$$" "$state/.name.$$"
	[ -z "${keys:-}" ] || rm -f "$keys.stoika.$$"
	[ "$fresh" = no ] || rm -rf "$new"
}
fail() {
	echo "$*" >&2
	undo
	exit 1
}
trap 'undo; exit 1' HUP INT TERM

[ "$(id -u)" = 0 ] || fail 'the agent is installed by root only; log in as root'
mkdir -p "$top" "$etc" "$state" || fail 'cannot make the folders of the agent'
chmod 700 "$state"
# left by installs that were killed
rm -rf "$top"/.new-* "$top"/.agent.* "$etc"/.pub.* "$etc"/.unit.* "$state"/.name.*
# what could not be replaced at the end is found out before anything is changed
[ -L "$top/agent" ] || [ ! -e "$top/agent" ] || fail "$top/agent is in the way: it is no link"
for file in "$etc/controller.pub" "$state/name" "$home/.ssh/authorized_keys"; do
	[ ! -d "$file" ] || fail "$file is in the way: it is a folder"
done

# The folder, named after its content, so one that is there is complete.
if [ -x "$new/bin/stoika-agent" ]; then
	cat > /dev/null
else
	mkdir "$made" || fail "no space for the agent in $top"
	cat > "$made.tar" || fail "no space for the agent in $top"
	echo "$sha  $made.tar" | sha256sum -c > /dev/null 2>&1 || fail 'the archive did not come whole'
	case $unpack in
	zstd) zstd -qdc < "$made.tar" | tar -xf - --no-same-owner -C "$made" ;;
	*) gzip -dc < "$made.tar" | tar -xf - --no-same-owner -C "$made" ;;
	esac || fail "cannot unpack the agent in $top"
	rm -f "$made.tar"
	[ -x "$made/bin/stoika-agent" ] || fail 'the archive holds no agent'
	sync -f "$made" 2> /dev/null || sync
	mv -T "$made" "$new" || fail "cannot move the agent into place in $top"
	fresh=yes
fi
version=$("$new/lib/ld-linux-x86-64.so.2" --library-path "$new/lib" "$new/bin/stoika-agent" version) ||
	fail 'the agent does not run on this node'

# The other files, beside their places.
echo "$sign" > "$etc/.pub.$$" || fail "no space in $etc"
echo "$name" > "$state/.name.$$" || fail "no space in $state"
cat > "$etc/.unit.$$" << 'UNIT' || fail "no space in $etc"
@INSERT@
UNIT
[ -d "$home/.ssh" ] || mkdir -m 700 "$home/.ssh" || fail "cannot make $home/.ssh"
keys=$home/.ssh/authorized_keys
[ ! -L "$keys" ] || keys=$(readlink -f "$keys") || fail "$keys leads nowhere"
rm -f "$keys".stoika.*
if [ -e "$keys" ]; then
	cp -p "$keys" "$keys.stoika.$$" || fail "no space in $home/.ssh"
	# 1 is grep's word for "nothing of others was there"
	grep -vF "command=\"$command\"" "$keys" > "$keys.stoika.$$" || [ $? = 1 ] || fail "no space in $home/.ssh"
else
	(umask 077 && : > "$keys.stoika.$$") || fail "no space in $home/.ssh"
fi
echo "restrict,command=\"$command\" $key stoika" >> "$keys.stoika.$$" || fail "no space in $home/.ssh"
ln -s "agent-$short" "$top/.agent.$$" || fail "cannot make a link in $top"

sync "$etc/.pub.$$" "$state/.name.$$" "$keys.stoika.$$" 2> /dev/null || sync

# The switch. Nothing below needs space. The agent first, since it can be taken back; then the keys, which
# somebody may have made immutable; a file of our own folders cannot fail any more.
old=$(readlink "$top/agent" || :)
back() {
	if [ -n "$old" ]; then
		ln -s "$old" "$top/.agent.$$" && mv -T "$top/.agent.$$" "$top/agent"
	else
		rm -f "$top/agent"
	fi
	fail "$*"
}
mv -T "$top/.agent.$$" "$top/agent" || fail "cannot put the link $top/agent in place"
"$top/agent/bin/stoika-agent" version > /dev/null || back 'the agent does not run on this node'
if cmp -s "$keys.stoika.$$" "$keys"; then
	rm -f "$keys.stoika.$$"
else
	mv -f "$keys.stoika.$$" "$keys" || back "cannot replace $keys; is it immutable (lsattr) or a mount?"
fi
mv -f "$etc/.pub.$$" "$etc/controller.pub" || fail "cannot replace $etc/controller.pub"
mv -f "$state/.name.$$" "$state/name" || fail "cannot replace $state/name"
# A run that a reboot interrupts goes on by itself where systemd is; elsewhere by "stoika run resume".
if [ -d "$units" ] && mkdir -p "$units/multi-user.target.wants" && mv -f "$etc/.unit.$$" "$units/$unit"; then
	ln -sf "../$unit" "$units/multi-user.target.wants/$unit" || fail "cannot enable $unit"
	[ ! -d /run/systemd/system ] || systemctl daemon-reload > /dev/null 2>&1 || :
else
	rm -f "$etc/.unit.$$"
fi
if command -v restorecon > /dev/null 2>&1; then
	restorecon -R "$top" "$etc" "$state" "$home/.ssh" 2> /dev/null || :
fi
# The one before stays, for runs that still use it.
for dir in "$top"/agent-*; do
	[ "$old" = "agent-$short" ] || [ "$dir" = "$new" ] || [ "$dir" = "$top/$old" ] || rm -rf "$dir"
done
echo "STOIKA-INSTALLED $version"
