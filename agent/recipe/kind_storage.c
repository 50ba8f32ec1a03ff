/* kind_storage - kinds of step that keep archives, images, disks and file systems. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const ENTRY_STATES[] = {"present", "absent", NULL};

static const char *const VERIFY[] = {"noted", "always", NULL};
static const struct kind_param DOWNLOAD[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file on the node"},
	{"url", PARAM_TEXT, false, NULL, NULL, "where it is, http or https"},
	{"urls", PARAM_LIST, false, NULL, NULL, "mirrors, tried in order (after url)"},
	{"sha256", PARAM_TEXT, false, NULL, NULL, "of the bytes, 64 hex digits; or sums"},
	{"sums", PARAM_SOURCE, false, NULL, NULL,
		"a list as of sha256sum in the recipe's files/, with a line for the url's last name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user; preset: as it is, root for a new one"},
	{"group", PARAM_NAME, false, NULL, NULL, "group; likewise"},
	{"verify", PARAM_CHOICE, false, VERIFY, "noted",
		"noted: an untouched file counts as what it was when it came; always: read it each "
		"time"},
	{"max_size", PARAM_INT, false, NULL, "0", "bytes; 0: 1 TiB"},
	{"proxy", PARAM_TEXT, false, NULL, NULL, "an HTTP proxy's url; preset: none"},
	{"ca", PARAM_PATH, false, NULL, NULL,
		"certificates of the authorities to trust; preset: the system's"},
	{"low_speed", PARAM_INT, false, NULL, "1024", "bytes a second; slower for low_time is cut"},
	{"low_time", PARAM_INT, false, NULL, "30", "seconds"},
	{"retries", PARAM_INT, false, NULL, "3", "further tries of a mirror after a broken line"},
	{0},
};
static const char *const DOWNLOAD_ONE_OF[] = {"url", "urls", "state", NULL};
static const char *const DOWNLOAD_NOT_BOTH[] = {"sha256", "sums", NULL};
static const char *const DOWNLOAD_SECRET[] = {"proxy", NULL};

static const struct kind_param ARCHIVE[] = {
	{"into", PARAM_PATH, true, NULL, NULL, "the folder, which is the step's own"},
	{"source", PARAM_SOURCE, false, NULL, NULL, "a tar in the recipe's files/"},
	{"path", PARAM_PATH, false, NULL, NULL, "a tar on the node; needs sha256"},
	{"sha256", PARAM_TEXT, false, NULL, NULL, "of the archive, 64 hex digits"},
	{"strip", PARAM_INT, false, NULL, "0", "leading parts to cut from each name"},
	{"creates", PARAM_PATH, false, NULL, NULL, "unpacked again when this is missing"},
	{"max_size", PARAM_INT, false, NULL, "0", "bytes it may unpack to; 0: 1 TiB"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const ARCHIVE_ONE_OF[] = {"source", "path", "state", NULL};
static const char *const ARCHIVE_NOT_BOTH[] = {"source", "path", NULL};

static const char *const FS_TYPES[] = {"ext4", "xfs", "btrfs", "ext3", "ext2", "vfat", NULL};
static const struct kind_param FILESYSTEM[] = {
	{"device", PARAM_PATH, true, NULL, NULL,
		"by a name that stays: /dev/disk/by-id, by-path, /dev/md/NAME, /dev/VG/LV"},
	{"type", PARAM_CHOICE, false, FS_TYPES, "ext4", "of the file system"},
	{"label", PARAM_TEXT, false, NULL, NULL, "its label; preset: any"},
	{"uuid", PARAM_TEXT, false, NULL, NULL, "its UUID; preset: any"},
	{"options", PARAM_LIST, false, NULL, NULL, "further arguments of mkfs"},
	{"wipe", PARAM_BOOL, false, NULL, "false", "what is on the device may be lost"},
	{"wipe_plan", PARAM_TEXT, false, NULL, NULL,
		"the wipe plan that was shown; any other is refused"},
	{0},
};

static const char *const LEVELS[] = {"0", "1", "4", "5", "6", "10", NULL};
static const char *const METADATA[] = {"1.2", "1.1", "1.0", "0.90", NULL};
static const struct kind_param RAID[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "of the array: /dev/md/NAME"},
	{"level", PARAM_CHOICE, false, LEVELS, "1",
		"0 spreads and keeps nothing twice, 1 mirrors, 5 lives without one device, 6 "
		"without two, 10 mirrors and spreads"},
	{"devices", PARAM_LIST, true, NULL, NULL, "by names that stay, see filesystem"},
	{"metadata", PARAM_CHOICE, false, METADATA, "1.2", "1.0 for an EFI partition"},
	{"chunk", PARAM_INT, false, NULL, "0", "KiB, a power of two; 0: mdadm's preset"},
	{"wipe", PARAM_BOOL, false, NULL, "false", "what is on the devices may be lost"},
	{"wipe_plan", PARAM_TEXT, false, NULL, NULL,
		"the wipe plan that was shown; any other is refused"},
	{0},
};

static const struct kind_param LVM[] = {
	{"vg", PARAM_NAME, true, NULL, NULL, "the volume group"},
	{"devices", PARAM_LIST, false, NULL, NULL, "its devices, by names that stay"},
	{"lv", PARAM_NAME, false, NULL, NULL, "a logical volume in it"},
	{"size", PARAM_TEXT, false, NULL, NULL, "of the volume: 100G, 512M; grows, never shrinks"},
	{"extents", PARAM_TEXT, false, NULL, NULL, "or a share when it is made: 100%FREE, 50%VG"},
	{"wipe", PARAM_BOOL, false, NULL, "false", "what is on the devices may be lost"},
	{"wipe_plan", PARAM_TEXT, false, NULL, NULL,
		"the wipe plan that was shown; any other is refused"},
	{0},
};
static const char *const LVM_NOT_BOTH[] = {"size", "extents", NULL};

static const char *const TRANSPORTS[] = {"tcp", "rdma", "fc", NULL};
static const struct kind_param NVME_CONNECT[] = {
	{"transport", PARAM_CHOICE, false, TRANSPORTS, "tcp", "how the target is reached"},
	{"traddr", PARAM_TEXT, true, NULL, NULL, "the target's address"},
	{"trsvcid", PARAM_TEXT, false, NULL, "4420", "its port"},
	{"nqn", PARAM_TEXT, true, NULL, NULL, "the subsystem: nqn.2014-08.org.nvmexpress:..."},
	{"hostnqn", PARAM_TEXT, false, NULL, NULL, "who we are; preset: /etc/nvme/hostnqn"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};

static const char *const ENGINES[] = {"docker", "podman", "containerd", NULL};
static const char *const RUN_STATES[] = {"running", "stopped", "absent", NULL};
static const char *const RESTARTS[] = {"always", "on-failure", "no", NULL};
static const struct kind_param CONTAINER[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "of the container and its unit, NAME.service"},
	{"image", PARAM_TEXT, false, NULL, NULL,
		"NAME@sha256:DIGEST, or sha256:ID of an image that oci_image loaded"},
	{"state", PARAM_CHOICE, false, RUN_STATES, "running", "running, stopped or absent"},
	{"engine", PARAM_CHOICE, false, ENGINES, NULL, "preset: the first that is installed"},
	{"args", PARAM_LIST, false, NULL, NULL, "words for the image's program"},
	{"ports", PARAM_LIST, false, NULL, NULL, "to publish: 127.0.0.1:8080:80, 53:53/udp"},
	{"volumes", PARAM_LIST, false, NULL, NULL, "PATH:PATH or NAME:PATH, with :ro"},
	{"env", PARAM_MAP, false, NULL, NULL, "variables; they stand in the unit, for all to read"},
	{"secret_env", PARAM_MAP, false, NULL, NULL,
		"variables that only root may read, in a file of their own"},
	{"gpus", PARAM_LIST, false, NULL, NULL, "all, or devices of CDI: nvidia.com/gpu=0"},
	{"network", PARAM_TEXT, false, NULL, NULL, "host, none, or a network of the engine"},
	{"user", PARAM_TEXT, false, NULL, NULL, "USER or UID:GID inside"},
	{"read_only", PARAM_BOOL, false, NULL, "false", "its root cannot be written"},
	{"shm_size", PARAM_TEXT, false, NULL, NULL, "of /dev/shm: 8g"},
	{"restart", PARAM_CHOICE, false, RESTARTS, "always", "what systemd does when it ends"},
	{"health", PARAM_TEXT, false, NULL, NULL, "http://127.0.0.1:PORT/PATH that must answer"},
	{"health_timeout", PARAM_INT, false, NULL, "60", "seconds it may take to answer"},
	{0},
};
static const char *const CONTAINER_SECRET[] = {"secret_env", NULL};

static const struct kind_param OCI_IMAGE[] = {
	{"name", PARAM_TEXT, true, NULL, NULL, "with a tag: registry.example/tools/nccl:2.27"},
	{"source", PARAM_SOURCE, false, NULL, NULL, "an archive in the recipe's files/"},
	{"path", PARAM_PATH, false, NULL, NULL, "an archive on the node"},
	{"digest", PARAM_TEXT, false, NULL, NULL,
		"what the engine knows the image by; with it a check need not read the archive"},
	{"engine", PARAM_CHOICE, false, ENGINES, NULL, "preset: the first that is installed"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const OCI_ONE_OF[] = {"source", "path", "state", NULL};

const struct kind KIND_STORAGE[] = {
	{
		.name = "download",
		.about = "a file from the network, known by its SHA-256",
		.check =
			"Never asks the network. A file that nobody touched since it came counts as what "
			"it was then (size, times and the note in its attribute "
			"trusted.stoika.sha256); any other is read and hashed. With verify: always "
			"it is read each time.",
		.apply =
			"Fetches into a hidden part file beside, in a process without privileges, hashing "
			"as the bytes come. A part that is there already is continued. Mirrors are "
			"tried in order; one that breaks is tried again with growing pauses, one that has "
			"not the file, or other bytes, is left. At most three redirects, never from "
			"https to http. Only bytes of the right SHA-256 take the name. In a rollout they "
			"may be fetched ahead into /var/cache/stoika-agent/staged; the apply then takes "
			"them from there.",
		.undo = "The old file comes back, or the new one goes when there was none. A file over "
			"64 MiB that was replaced waits beside as .NAME.stoika-was until the next change.",
		.example =
			"download:\n"
			"  path: /var/cache/cuda.run\n"
			"  urls: [\"https://mirror.example/cuda.run\", \"https://other.example/cuda.run\"]\n"
			"  sha256: 9f2d5c0f7e0b8a5d4c3b2a190817f6e5d4c3b2a190817f6e5d4c3b2a19081726",
		.params = DOWNLOAD,
		.one_of = DOWNLOAD_ONE_OF,
		.not_both = DOWNLOAD_NOT_BOTH,
		.secret = DOWNLOAD_SECRET,
	},
	{
		.name = "archive",
		.about = "a folder that holds just what an archive holds",
		.check =
			"Reads the stamp in the folder (.stoika-archive): the archive's SHA-256 and what "
			"was cut. The single files are not compared; creates names one that must be there. "
			"A folder with files of others is a conflict.",
		.apply =
			"Unpacks beside, in a confined process, and puts the folder in place whole by one "
			"rename. tar only, plain, gzip or zstd. Refused are names and links that lead out, "
			"devices, control characters; set-uid bits and owners are dropped.",
		.undo = "The earlier folder comes back (it waits beside as .NAME.stoika-was until the next "
			"change), or the new one goes when there was none.",
		.example = "archive:\n"
			   "  into: /opt/nccl-tests\n"
			   "  source: nccl-tests.tar.zst\n"
			   "  strip: 1",
		.params = ARCHIVE,
		.one_of = ARCHIVE_ONE_OF,
		.not_both = ARCHIVE_NOT_BOTH,
	},
	{
		.name = "filesystem",
		.about = "a file system on a device",
		.check =
			"Reads the device's own first blocks: type, label and UUID. When they are others, "
			"the diff shows the wipe plan: the disk with size, model and serial, its "
			"partitions, every signature that wipefs knows, and who uses them. A name such as "
			"/dev/sda is refused, it may be another disk tomorrow; so is a name by-id when two "
			"disks have one serial.",
		.apply =
			"Refuses a device with any signature unless wipe is true (and wipe_plan, if given, "
			"is still the plan), and always one that is mounted, swap or part of something. "
			"Then wipes the partitions, the device, looks again, and runs mkfs.",
		.undo = "Cannot be undone: what was on the device is gone.",
		.example = "filesystem:\n"
			   "  device: /dev/disk/by-id/nvme-eui.0025388b710117a1\n"
			   "  type: xfs\n"
			   "  label: scratch",
		.params = FILESYSTEM,
	},
	{
		.name = "raid",
		.about = "an md array",
		.check =
			"Reads /proc/mdstat, /dev/md and mdadm.conf. Another level, other members or other "
			"metadata of the array that is there are a conflict. When it is not there, the diff "
			"shows the wipe plan of its devices (see filesystem).",
		.apply =
			"Assembles the array when all devices say that they are its members; otherwise "
			"makes it, with the rules of 'filesystem' on what may be lost. Then adds its line to "
			"mdadm.conf. It never reshapes and never stops an array.",
		.undo = "Cannot be undone: stopping an array would lose what was written to it since.",
		.example = "raid:\n"
			   "  name: scratch\n"
			   "  level: \"0\"\n"
			   "  devices: [/dev/disk/by-path/pci-0000:3b:00.0-nvme-1,\n"
			   "    /dev/disk/by-path/pci-0000:3c:00.0-nvme-1]",
		.params = RAID,
	},
	{
		.name = "lvm",
		.about = "a volume group and a logical volume",
		.check =
			"A volume that the device mapper shows with its size is the same without running a "
			"program, unless devices is given; otherwise one 'lvm fullreport' is read. Devices "
			"that the group lacks show their wipe plan (see filesystem).",
		.apply =
			"Makes or extends the group, makes the volume or makes it larger; with the rules of "
			"filesystem on what may be lost. Nothing is made smaller, no device is taken away.",
		.undo = "Cannot be undone: removing a volume would lose what was written to it since.",
		.example = "lvm:\n"
			   "  vg: data\n"
			   "  devices: [/dev/md/scratch]\n"
			   "  lv: models\n"
			   "  extents: 100%FREE",
		.params = LVM,
		.not_both = LVM_NOT_BOTH,
	},
	{
		.name = "nvme_connect",
		.about = "a connection to NVMe over fabrics",
		.check =
			"Reads /sys/class/nvme for a live controller with that subsystem, transport, address "
			"and port, and /etc/nvme/discovery.conf for its line.",
		.apply =
			"Runs 'nvme connect' or 'nvme disconnect', then writes or removes the line that "
			"nvmf-autoconnect.service connects by at boot.",
		.undo = "Connected or not, and the line, as it was.",
		.example = "nvme_connect:\n"
			   "  traddr: 10.0.8.11\n"
			   "  nqn: nqn.2014-08.org.nvmexpress:uuid:4f1c3d2e",
		.params = NVME_CONNECT,
	},
	{
		.name = "container",
		.about = "a systemd unit that runs one container",
		.check =
			"Compares the unit, the file of secrets (not shown) and the unit's state; of podman "
			"also which image runs. With health: whether it answers (2xx or 3xx).",
		.apply =
			"Writes the unit, whose text hangs on the arguments alone, and the file of secrets "
			"(0600), then starts or restarts it and waits for health. The image must be "
			"pinned by digest. ctr without nerdctl publishes no ports.",
		.undo = "The old unit and secrets come back and it runs as before; or it is stopped and "
			"both go.",
		.example = "container:\n"
			   "  name: dcgm-exporter\n"
			   "  image: nvcr.io/nvidia/k8s/dcgm-exporter@sha256:"
			   "9f2d5c0f7e0b8a5d4c3b2a190817f6e5d4c3b2a190817f6e5d4c3b2a19081726\n"
			   "  gpus: [all]\n"
			   "  ports: [\"9400:9400\"]\n"
			   "  health: http://127.0.0.1:9400/metrics",
		.params = CONTAINER,
		.unless_absent = "image",
		.secret = CONTAINER_SECRET,
	},
	{
		.name = "oci_image",
		.about = "a container image from an archive, without network",
		.check =
			"Reads which image the engine has under the name (docker and podman from their "
			"files; containerd is asked), and from the archive which one it holds: an OCI "
			"layout or what docker save writes. Each manifest is compared with its digest.",
		.apply =
			"Loads the archive by the engine's own program, and names the image when the "
			"archive did not.",
		.undo = "The name goes, or leads to the earlier image again as long as the engine has it; "
			"an image that was removed does not come back.",
		.example = "oci_image:\n"
			   "  name: registry.example/tools/nccl-tests:2.27\n"
			   "  source: nccl-tests.tar",
		.params = OCI_IMAGE,
		.one_of = OCI_ONE_OF,
	},
	{0},
};
