/* export_foreign - one way in for all formats a model is written in. */
#include "inventory/import/export_table.h"

const char *const EXPORT_FORMATS[] = {
	"yaml", "netbox", "ansible", "ansible-yaml", "prometheus", "csv", "xlsx", NULL};

void export_files_done(struct export_files *f)
{
	vec_each(f, struct export_file, it)
		buf_done(&it->text);
	vec_done(f);
}

bool export_is_folder(enum export_format format)
{
	return format == EXPORT_NETBOX || format == EXPORT_CSV;
}

int foreign_export(const struct model *m, enum export_format format, struct export_files *out,
	struct losses *losses, struct err *err)
{
	struct buf *text = export_is_folder(format) ? NULL : export_file_new(out, "");
	int rc = 0;

	if (format == EXPORT_NETBOX)
		export_netbox(m, out, losses);
	else if (format == EXPORT_CSV)
		export_csv(m, out);
	else if (format == EXPORT_XLSX)
		rc = export_xlsx(m, text, err);
	else if (format == EXPORT_ANSIBLE)
		export_ansible(m, text);
	else if (format == EXPORT_ANSIBLE_YAML)
		export_ansible_yaml(m, text);
	else if (format == EXPORT_PROMETHEUS)
		export_prometheus(m, text);
	else
		export_site(m, text);
	for (size_t i = 0; rc == 0 && i < out->n; i++)
		if (!buf_ok(&out->at[i].text))
			rc = err_set(err, E_LIMIT, "the export is longer than %zu MiB",
				EXPORT_MAX >> 20);
	return rc;
}
