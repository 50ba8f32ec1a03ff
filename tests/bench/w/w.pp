# W for puppet apply, run on the node from local files in /srv/w; file_line is of puppetlabs-stdlib.
user { 'wapp': ensure => present, uid => 2001, home => '/var/lib/w', shell => '/usr/sbin/nologin', managehome => false }
user { 'wops': ensure => present, uid => 2002, home => '/var/lib/w', shell => '/bin/bash', managehome => false }

file { ['/opt/w', '/opt/w/etc', '/opt/w/etc/conf.d', '/opt/w/bin', '/var/lib/w']: ensure => directory, mode => '0755' }
file { '/opt/w/data': ensure => directory, mode => '0750' }

Integer[1, 15].each |$i| {
  $n = sprintf('%02d', $i)
  file { "/opt/w/etc/conf.d/c${n}.conf": source => "/srv/w/c${n}.conf", mode => '0644' }
}
[1, 2, 3].each |$i| {
  file { "/opt/w/bin/tool${i}.sh": source => "/srv/w/tool${i}.sh", mode => '0755' }
  service { "wsvc${i}": ensure => running, provider => init, hasstatus => true }
}
file { '/opt/w/data/blob.dat': source => '/srv/w/blob.dat', mode => '0640' }
file { '/opt/w/etc/host.conf': source => '/srv/w/host.conf', mode => '0644' }

package { ['openssh-server', 'iproute2', 'procps', 'kmod', 'dbus', 'udev', 'systemd-sysv', 'apt', 'passwd', 'bash']: ensure => installed }

$lines = { 'vm.swappiness' => 10, 'net.core.somaxconn' => 4096, 'vm.dirty_ratio' => 15, 'fs.file-max' => 2000000,
  'kernel.pid_max' => 131072 }
$lines.each |$k, $v| {
  file_line { $k: path => '/etc/w-sysctl.conf', match => "^${k} =", line => "${k} = ${v}" }
}

exec { 'date > /var/lib/w/a.done': path => '/usr/bin:/bin', provider => shell, creates => '/var/lib/w/a.done' }
exec { 'echo w >> /var/lib/w/marker': path => '/usr/bin:/bin', provider => shell, unless => 'grep -qs w /var/lib/w/marker' }
