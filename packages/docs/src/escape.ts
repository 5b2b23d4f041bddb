const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const NAMES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&amp;': '&',
};

/** Text as content or quoted attribute value of HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
}

/** The text of a piece of HTML. */
export function toText(html: string): string {
  const text = html
    .replaceAll(/<\/?(?:a|code|em|span|strong|wbr)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|#x27|amp);/g, (name) => NAMES[name] ?? name);
  return text.replaceAll(/\s+/g, ' ').trim();
}
