#!/bin/sh
# Boots systemd on a copy-on-write view of this machine, in namespaces of its own: boot.sh WORK REPOSITORY NODE [boot]
# WORK is an empty directory; what is in WORK/files is at /srv. The machine has a loopback interface only, and nothing of it remains.
# It ends with this process, and this process with its parent.
set -eu
work=$1 repository=$2 node=$3

if [ "${4:-}" = '' ]; then
  # A group of its own: systemd takes the one in which it starts for the root of all.
  groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  mkdir "${groups:?there is no cgroup2 here}/phds-machine-$$"
  echo $$ >"$groups/phds-machine-$$/cgroup.procs"
  exec setpriv --pdeathsig KILL unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child sh "$0" "$@" boot
fi

machine=$work/view/machine
mount --make-rprivate /
mkdir "$work/view"
mount -t tmpfs tmpfs "$work/view"
mkdir "$machine" "$work/view/changes" "$work/view/work"
mount -t overlay -o "lowerdir=/,upperdir=$work/view/changes,workdir=$work/view/work" overlay "$machine"
# Nothing of this machine starts there, and nothing is mounted by fstab.
rm -rf "$machine/etc/systemd/system" "$machine/etc/fstab"
mkdir "$machine/etc/systemd/system"
mkdir -p "$machine$repository" "$machine/srv"
mount --bind "$repository" "$machine$repository"
mount --bind "$work/files" "$machine/srv"
rm -f "$machine/usr/bin/node"
: >"$machine/usr/bin/node"
mount --bind "$node" "$machine/usr/bin/node"
mount -t proc proc "$machine/proc"
# The settings of the kernel stay those of this machine.
mount --bind "$machine/proc/sys" "$machine/proc/sys"
mount -o remount,bind,ro "$machine/proc/sys"
mount -t sysfs -o ro sysfs "$machine/sys"
mount -t cgroup2 cgroup2 "$machine/sys/fs/cgroup"
for directory in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$machine/$directory"; done
chmod 1777 "$machine/tmp"
for device in null zero full random urandom tty; do
  : >"$machine/dev/$device"
  mount --bind "/dev/$device" "$machine/dev/$device"
done
mkdir "$machine/dev/pts" "$machine/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$machine/dev/pts"
ln -s pts/ptmx "$machine/dev/ptmx"
mount -t tmpfs tmpfs "$machine/dev/shm"
ln -s /proc/self/fd "$machine/dev/fd"
ip link set lo up
cd "$machine"
mkdir -p .old
pivot_root . .old
umount -l .old
mount --make-rshared /
exec env -i container=phds PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --unit=basic.target --log-target=console --show-status=no
