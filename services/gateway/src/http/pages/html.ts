/** Markup that needs no escaping. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Content = string | Html | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds markup. Inserted values are escaped unless they are `Html`. Attribute values must be quoted. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  const parts = strings.map((text, index) => text + toMarkup(contents[index] ?? ''));
  return new Html(parts.join(''));
}

function toMarkup(content: Content): string {
  if (content instanceof Html) return content.markup;
  if (typeof content === 'string') return content.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');
  return content.map(({ markup }) => markup).join('');
}
