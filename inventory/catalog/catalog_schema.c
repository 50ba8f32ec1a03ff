/* catalog_schema - the keys that entries of each kind may have, in the order they are shown. */
#include "inventory/catalog/catalog_priv.h"

const char *const CATALOG_KIND_NAMES[] = {"gpu", "server", "switch", "storage", "pdu", "optic",
	"connector", "circuit", "model", "note", NULL};
const char *const CATALOG_SECTIONS[] = {"gpus", "servers", "switches", "storage", "pdus", "optics",
	"connectors", "circuits", "models", "notes", NULL};

#define NUM(name, least, most)                      \
	{                                           \
		name, VALUE_NUM, least, most, false \
	}
#define COUNT(name, least, most)                      \
	{                                             \
		name, VALUE_COUNT, least, most, false \
	}
#define NEED(name, least, most)                    \
	{                                          \
		name, VALUE_NUM, least, most, true \
	}
#define NEEDC(name, least, most)                     \
	{                                            \
		name, VALUE_COUNT, least, most, true \
	}
#define TEXT(name)                            \
	{                                     \
		name, VALUE_TEXT, 0, 0, false \
	}
#define BOOL(name)                            \
	{                                     \
		name, VALUE_BOOL, 0, 0, false \
	}
#define LIST(name)                            \
	{                                     \
		name, VALUE_LIST, 0, 0, false \
	}
#define COUNTS(name)                                 \
	{                                            \
		name, VALUE_COUNTS, 0, 100000, false \
	}
#define RANGE(name, least, most)                      \
	{                                             \
		name, VALUE_RANGE, least, most, false \
	}
#define END       \
	{         \
		0 \
	}

#define WATTS_MOST 10000000 /* of one entry */

/* What anything in a rack may have. */
#define BODY                                                                                       \
	NUM("height_mm", 1, 3000), NUM("width_mm", 1, 1500), NUM("depth_mm", 1, 3000),             \
		BOOL("full_depth"), NUM("weight_kg", 0.1, 5000), NUM("weight_bare_kg", 0.1, 5000), \
		NUM("weight_gross_kg", 0.1, 5000)
#define POWER                                                                                      \
	COUNT("psus", 0, 64), NUM("psu_watts", 1, WATTS_MOST), COUNT("psus_needed", 0, 64),        \
		COUNT("psus_min", 0, 64), TEXT("psu_unit"), TEXT("psu_redundancy"),                \
		TEXT("psu_curve"), COUNT("psus_optional", 0, 64), TEXT("psu_optional_redundancy"), \
		NUM("psu_degraded_gpu_w", 1, 5000), RANGE("psu_input_v", 1, 1000),                 \
		TEXT("psu_input"), TEXT("inlet"), NUM("inlet_amps", 0.1, 200), TEXT("cord"),       \
		BOOL("hot_spare"), NUM("busbar_amps", 1, 100000), NUM("watts_max", 1, WATTS_MOST), \
		NUM("watts_typical", 1, WATTS_MOST), NUM("watts_planning", 1, WATTS_MOST),         \
		NUM("watts_dc", 1, WATTS_MOST), NUM("watts_degraded", 1, WATTS_MOST),              \
		NUM("watts_measured_peak", 1, WATTS_MOST),                                         \
		NUM("watts_measured_typical", 1, WATTS_MOST), NUM("inrush", 0, 100),               \
		NUM("heat_btu_h", 1, 4 * WATTS_MOST), NUM("cfm", 1, 1000000),                      \
		NUM("liquid_w", 0, WATTS_MOST), NUM("air_w", 0, WATTS_MOST), TEXT("airflow"),      \
		RANGE("inlet_c", -40, 80), RANGE("humidity_pct", 0, 100), TEXT("ashrae")
/* What the importer of community device types adds. */
#define IMPORTED                                                           \
	TEXT("part_number"), TEXT("slug"), COUNT("interfaces", 0, 100000), \
		COUNTS("interface_types"), COUNT("power_ports", 0, 1000),  \
		COUNT("psu_bays", 0, 1000), COUNT("gpu_bays", 0, 1000)

static const struct catalog_key GPU[] = {LIST("pci_device_ids"), NEED("memory_gb", 1, 10000),
	TEXT("memory_type"), NUM("memory_bus_bits", 32, 16384),
	NEED("memory_bandwidth_gbs", 10, 100000), NEED("power_default_w", 10, 5000),
	NUM("power_min_w", 10, 5000), NUM("power_max_w", 10, 5000),
	NUM("power_module_w", 10, 20000), NUM("tflops_fp64_dense", 0, 100000),
	NUM("tflops_fp64_tensor_dense", 0, 100000), NUM("tflops_fp32_dense", 0, 100000),
	NUM("tflops_tf32_dense", 0, 100000), NUM("tflops_bf16_dense", 0, 100000),
	NUM("tflops_fp8_dense", 0, 100000), NUM("tflops_fp4_dense", 0, 100000),
	NUM("tflops_tf32_sparse", 0, 200000), NUM("tflops_bf16_sparse", 0, 200000),
	NUM("tflops_fp8_sparse", 0, 200000), NUM("tflops_fp4_sparse", 0, 200000),
	COUNT("nvlink_version", 0, 20), NUM("nvlink_total_gbs", 0, 100000),
	COUNT("nvlink_bridge_cards", 2, 16), COUNT("pcie_gen", 1, 10), COUNT("pcie_lanes", 1, 32),
	COUNT("mig_max_instances", 0, 64), NUM("mig_full_profile_gb", 1, 10000),
	COUNTS("mig_profiles"), LIST("mig_variants"), COUNT("nvdec", 0, 64), COUNT("nvenc", 0, 64),
	COUNT("nvjpeg", 0, 64), BOOL("av1_decode"), BOOL("av1_encode"), BOOL("h264_422"),
	COUNT("streams_h264_1080p30", 0, 100000), COUNT("streams_hevc_1080p30", 0, 100000),
	COUNT("streams_vp9_1080p30", 0, 100000), COUNT("streams_av1_720p30", 0, 100000),
	NUM("thermal_slowdown_margin_c", -100, 0), NUM("thermal_shutdown_margin_c", -100, 0),
	NUM("max_operating_c", 1, 150), NUM("slowdown_c", 1, 150), NUM("shutdown_c", 1, 150),
	NUM("memory_max_c", 1, 150), TEXT("form"), TEXT("compute_capability"),
	TEXT("min_driver_branch"), TEXT("min_cuda"), RANGE("price_usd", 1, 10000000), END};

static const struct catalog_key SERVER[] = {NEED("height_u", 0, 60), BODY, COUNT("gpus", 0, 1024),
	TEXT("gpu"), POWER, TEXT("nics"), TEXT("topology"), TEXT("end_of_sale"), IMPORTED, END};

static const struct catalog_key SWITCH[] = {TEXT("fabric"), TEXT("speed"), BOOL("managed"),
	NEEDC("ports", 1, 4096), COUNT("cages", 1, 4096), NUM("port_gbps", 0.1, 10000),
	COUNT("extra_ports", 0, 64), TEXT("extra_port_type"), NEED("height_u", 0, 60), BODY, POWER,
	IMPORTED, END};

static const struct catalog_key STORAGE[] = {NUM("height_u", 0, 60), BODY,
	COUNT("drive_bays", 0, 1000), COUNT("controllers", 0, 16), POWER,
	NUM("cache_gb_per_controller", 0, 100000), BOOL("cache_battery"), TEXT("cache_protection"),
	TEXT("cache_behaviour"), NUM("cache_refresh_min", 0, 100000),
	NUM("cache_restore_s", 0, 100000), BOOL("cache_mirrored"), COUNT("cache_copies", 1, 16),
	COUNT("paths_per_namespace", 1, 64), COUNT("nics_on_switches", 1, 64),
	COUNT("min_servers", 1, 10000), COUNT("recommended_servers", 1, 10000),
	NUM("per_node_gbs", 0, 100000), TEXT("rules"), IMPORTED, END};

static const struct catalog_key PDU[] = {NUM("height_u", 0, 60), BODY, TEXT("input"), TEXT("inlet"),
	NUM("volts", 1, 1000), COUNT("phases", 1, 3), NUM("amps", 0.1, 1000), NUM("kva", 0.1, 1000),
	NUM("kw", 0.1, 1000), NUM("kva_usable_80", 0.1, 1000), BOOL("kva_derated"),
	COUNT("outlets_c13", 0, 500), COUNT("outlets_c19", 0, 500), COUNT("outlets_other", 0, 500),
	COUNTS("outlets_by_leg"), COUNT("banks", 1, 64), NUM("bank_amps", 1, 200),
	TEXT("bank_layout"), IMPORTED, END};

static const struct catalog_key OPTIC[] = {
	NEED("watts_max", 0.1, 100), NUM("port_gbps", 0.1, 10000), TEXT("form"), END};
static const struct catalog_key CONNECTOR[] = {
	NEED("amps_iec", 0.1, 1000), NUM("amps_ul", 0.1, 1000), NUM("amps_ul_80", 0.1, 1000), END};
static const struct catalog_key CIRCUIT[] = {LIST("region"), NEED("volts", 1, 1000),
	NEEDC("phases", 1, 3), NEED("amps", 0.1, 10000), NEED("kva", 0.01, 10000),
	NUM("kw_80", 0.01, 10000), NUM("kw_100", 0.01, 10000), END};
/* Words: attention full mla hybrid; mlp gated plain. */
static const struct catalog_key MODEL[] = {NUM("params", 1, 1e14), NUM("params_active", 1, 1e14),
	COUNT("layers", 1, 10000), COUNT("hidden", 1, 1000000), COUNT("heads", 1, 100000),
	COUNT("kv_heads", 1, 100000), COUNT("head_dim", 1, 10000), COUNT("ffn", 1, 10000000),
	COUNT("vocab", 1, 10000000), COUNT("positions", 1, 10000000),
	COUNT("context", 1, 100000000), TEXT("mlp"), BOOL("tied"), BOOL("qkv_bias"),
	COUNT("experts", 2, 100000), COUNT("experts_active", 1, 100000),
	COUNT("experts_shared", 0, 1000), COUNT("expert_ffn", 1, 10000000),
	COUNT("dense_layers", 0, 10000), TEXT("attention"), COUNT("kv_lora_rank", 1, 100000),
	COUNT("q_lora_rank", 1, 100000), COUNT("rope_head_dim", 1, 10000),
	COUNT("nope_head_dim", 1, 10000), COUNT("v_head_dim", 1, 10000),
	COUNT("window", 1, 10000000), COUNT("full_layers", 0, 10000),
	COUNT("window_layers", 0, 10000), COUNT("linear_layers", 0, 10000),
	NUM("state_bytes", 0, 1e12), NUM("gflops", 0.01, 1e6), LIST("aliases"), END};
static const struct catalog_key NOTE[] = {{"text", VALUE_TEXT, 0, 0, true}, END};

const struct catalog_key *catalog_keys(enum catalog_kind kind)
{
	static const struct catalog_key *const keys[CATALOG_KINDS] = {
		[CATALOG_GPU] = GPU,
		[CATALOG_SERVER] = SERVER,
		[CATALOG_SWITCH] = SWITCH,
		[CATALOG_STORAGE] = STORAGE,
		[CATALOG_PDU] = PDU,
		[CATALOG_OPTIC] = OPTIC,
		[CATALOG_CONNECTOR] = CONNECTOR,
		[CATALOG_CIRCUIT] = CIRCUIT,
		[CATALOG_MODEL] = MODEL,
		[CATALOG_NOTE] = NOTE,
	};

	return keys[kind];
}
