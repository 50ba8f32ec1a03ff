/* html - one style sheet; colours of verdicts come from the palette. */
#include "inventory/report/html.h"

#include "inventory/report/palette.h"
#include "inventory/report/svg.h"

static const char STYLE[] =
	"html{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
	"body{font:15px/1.45 'Liberation Sans','DejaVu Sans',Arial,Helvetica,sans-serif;"
	"color:#1a1a1a;background:#fff;max-width:1080px;margin:0 auto;padding:24px}"
	"h1{font-size:27px;line-height:1.2;margin:0 0 4px}"
	"h2{font-size:21px;margin:32px 0 10px;border-bottom:2px solid #33414e;padding-bottom:4px}"
	"h3{font-size:16px;margin:22px 0 8px;break-after:avoid}"
	"h2{break-after:avoid}"
	"p{margin:6px 0}.meta{color:#4a4a4a}"
	"table{border-collapse:collapse;width:100%;margin:8px 0 14px;font-size:13.5px}"
	"th{text-align:left;background:#e9edf0;border-bottom:2px solid #9aa6b0;padding:5px 7px;"
	"vertical-align:bottom}"
	"td{border-bottom:1px solid #cfd5da;padding:5px 7px;vertical-align:top;"
	"overflow-wrap:break-word}"
	"td.long{overflow-wrap:anywhere}"
	"td.num,th.num{text-align:right;white-space:nowrap;overflow-wrap:normal}"
	"td.tight,th.tight{width:1%;white-space:nowrap;overflow-wrap:normal}"
	"td.calc{font-size:12.5px;font-variant-numeric:tabular-nums}"
	"tr.assumed td{background:#fdf7e3}"
	".badge{display:inline-block;font-size:12px;font-weight:bold;letter-spacing:.02em;"
	"padding:1px 7px;border:1px solid;border-radius:3px;white-space:nowrap}"
	".overall{font-size:17px;margin:12px 0}"
	".overall .badge{font-size:16px;padding:3px 10px;margin-right:8px}"
	".figures{display:flex;flex-wrap:wrap;gap:6px 26px;margin:8px 0 12px;padding:0;"
	"list-style:none}"
	".figures li{font-size:13.5px}.figures b{font-size:15px}"
	".pictures{display:flex;flex-wrap:wrap;gap:14px 22px;align-items:flex-start}"
	"figure{margin:8px 0;break-inside:avoid}"
	"svg{max-width:100%;height:auto;display:block}"
	".finding{border:1px solid #cfd5da;border-left:6px solid;padding:6px 12px;margin:9px 0;"
	"break-inside:avoid}"
	".finding p{margin:2px 0}.finding .what{margin-top:6px}.finding .head{font-weight:bold}"
	".finding .calc{font-variant-numeric:tabular-nums}"
	".finding .note,.note{color:#4a4a4a;font-size:13px}"
	"ul.keys{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:6px 0;"
	"font-size:13px}ul.keys svg{display:inline-block;vertical-align:middle;margin-right:6px}"
	"a{color:#00517d}"
	"@page{size:A4;margin:13mm 12mm}"
	"@media print{body{font-size:9.5pt;max-width:none;padding:0}"
	"h1{font-size:18pt}h2{font-size:14pt;margin-top:16pt}h3{font-size:11pt}"
	"table,td.calc,.figures li,.finding .note,.note,ul.keys{font-size:8.5pt}"
	".figures b{font-size:9.5pt}"
	".badge{font-size:7.5pt}section.rack{break-before:page}"
	"section.rack>h2{margin-top:0}.back{display:none}"
	"tr{break-inside:avoid}thead{display:table-header-group}"
	".pictures{flex-wrap:nowrap;gap:14px}.pictures figure{flex:0 1 auto;min-width:0}"
	"a{color:inherit;text-decoration:none}}";

void html_text(const struct html *h, const char *text)
{
	svg_escape(h->out, text);
}

static void add_verdict_style(struct buf *out)
{
	for (unsigned v = 0; v < AUDIT_VERDICT_N; v++) {
		const struct verdict_colour c = palette_verdict(v);

		buf_addf(out, ".v%u{color:%s;background:%s;border-color:%s}", v, c.ink, c.tint,
			c.ink);
		buf_addf(out, ".f%u{border-left-color:%s}", v, c.ink);
	}
}

void html_begin(const struct html *h, const char *title)
{
	buf_addf(h->out,
		"<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
		text_lang_name(h->lang));
	html_text(h, title);
	buf_addf(h->out, "</title>\n<style>%s", STYLE);
	add_verdict_style(h->out);
	buf_add_text(h->out, "</style>\n</head>\n<body>\n");
}

void html_end(const struct html *h)
{
	buf_add_text(h->out, "</body>\n</html>\n");
}

static void open_tag(const struct html *h, const char *element, const char *class)
{
	buf_addf(h->out, "<%s", element);
	if (class && *class)
		buf_addf(h->out, " class=\"%s\"", class);
	buf_add_char(h->out, '>');
}

void html_element(const struct html *h, const char *element, const char *class, const char *text)
{
	open_tag(h, element, class);
	html_text(h, text);
	buf_addf(h->out, "</%s>\n", element);
}

void html_heading(const struct html *h, unsigned level, enum text_key key)
{
	buf_addf(h->out, "<h%u>", level);
	html_text(h, text_get(h->lang, key));
	buf_addf(h->out, "</h%u>\n", level);
}

void html_badge(const struct html *h, enum audit_verdict v)
{
	buf_addf(h->out, "<span class=\"badge v%u\">", (unsigned)v);
	html_text(h, text_verdict(h->lang, v));
	buf_add_text(h->out, "</span>");
}

void html_table(const struct html *h, const struct html_column *columns, unsigned n)
{
	buf_add_text(h->out, "<table>\n<thead><tr>");
	for (unsigned i = 0; i < n; i++) {
		open_tag(h, "th", columns[i].class);
		html_text(h, text_get(h->lang, columns[i].head));
		buf_add_text(h->out, "</th>");
	}
	buf_add_text(h->out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(const struct html *h)
{
	buf_add_text(h->out, "</tbody>\n</table>\n");
}

void html_row(const struct html *h, const char *class)
{
	open_tag(h, "tr", class);
}

void html_row_end(const struct html *h)
{
	buf_add_text(h->out, "</tr>\n");
}

void html_cell(const struct html *h, const char *class, const char *text)
{
	open_tag(h, "td", class);
	html_text(h, text && *text ? text : "–");
	buf_add_text(h->out, "</td>");
}

void html_cell_verdict(const struct html *h, enum audit_verdict v)
{
	open_tag(h, "td", "tight");
	html_badge(h, v);
	buf_add_text(h->out, "</td>");
}
