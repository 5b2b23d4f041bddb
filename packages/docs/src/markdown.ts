import GithubSlugger from 'github-slugger';
import { Marked, type Renderer, type Token, type Tokens } from 'marked';
import { escapeHtml, toText } from './escape.ts';
import { highlight } from './highlight.ts';
import { toAddress } from './links.ts';

/**
 * A heading and what follows it, up to the next heading of level 2 or 3. Headings that occur several times on a page, such as "Errors" below
 * each operation, begin no section.
 */
export interface Section {
  /** The anchor of the heading; empty for the part below the title. */
  readonly anchor: string;
  readonly level: number;
  readonly title: string;
  readonly text: string;
  /** The text without code. */
  readonly prose: string;
}

/** A page as HTML. */
export interface RenderedPage {
  readonly title: string;
  /** The first paragraph as text. */
  readonly summary: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** The addresses of all links. */
  readonly links: readonly string[];
  /** All anchors of the page. */
  readonly anchors: readonly string[];
}

/** Renders a page whose first line is its title. Anchors are those that GitHub makes. */
export function renderMarkdown(markdown: string): RenderedPage {
  const links: string[] = [];
  const slugger = new GithubSlugger();
  const marked = new Marked({ renderer: toRenderer(links, slugger) });
  const sections: (Section & { html: string })[] = [];
  const tokens = marked.lexer(markdown);
  const repeated = findRepeated(tokens);
  for (const token of tokens) {
    const html = marked.parser([token]);
    const isHeading = token.type === 'heading' && token.depth <= 3 && !repeated.has(token['text']);
    if (isHeading) sections.push(toSection(token as Tokens.Heading, html));
    const section = sections.at(-1);
    if (section === undefined) throw new Error('A page begins with its title.');
    sections[sections.length - 1] = isHeading ? section : extend(section, html, token.type === 'code');
  }
  const [first] = sections;
  if (first?.level !== 1) throw new Error('The first line of a page is its title.');
  const html = sections.map((section) => section.html).join('');
  const anchors = [...html.matchAll(/<h\d id="([^"]+)"/g)].map(([, id]) => id ?? '');
  const summary = toText(/<p>(.*?)<\/p>/s.exec(first.html)?.[1] ?? '');
  return { title: first.title, summary, html, sections, links, anchors };
}

/** The texts of headings that occur more than once. */
function findRepeated(tokens: readonly Token[]): ReadonlySet<string> {
  const texts = tokens
    .filter(({ type }) => type === 'heading')
    .map((token) => String((token as Tokens.Heading).text));
  return new Set(texts.filter((text, place) => texts.indexOf(text) !== place));
}

function toSection({ depth }: Tokens.Heading, html: string) {
  const [, anchor = ''] = /id="([^"]+)"/.exec(html) ?? [];
  const title = toText(html.replace(/<a class="anchor".*?<\/a>/, ''));
  return { anchor: depth === 1 ? '' : anchor, level: depth, title, text: '', prose: '', html };
}

function extend<S extends Section & { html: string }>(section: S, html: string, isCode: boolean): S {
  const join = (text: string) => `${text} ${toText(html)}`.trim();
  const prose = isCode ? section.prose : join(section.prose);
  return { ...section, html: section.html + html, text: join(section.text), prose };
}

function toRenderer(links: string[], slugger: GithubSlugger): Partial<Renderer> {
  return {
    heading(this: Renderer, { tokens, depth }) {
      const content = this.parser.parseInline(tokens as Token[]);
      const anchor = slugger.slug(toText(content));
      if (depth === 1) return `<h1 id="${anchor}">${content}</h1>\n`;
      const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
      return `<h${depth} id="${anchor}">${content} ${link}</h${depth}>\n`;
    },
    code({ text, lang = '' }) {
      const marked = highlight(text, lang);
      return `<pre tabindex="0"${lang === '' ? '' : ` data-language="${escapeHtml(lang)}"`}><code>${marked}</code></pre>\n`;
    },
    link(this: Renderer, { href, tokens }) {
      const address = toAddress(href);
      links.push(address);
      const text = this.parser.parseInline(tokens as Token[]);
      // Error codes may break at their underscores, in tables on phones.
      const content = /^[A-Z_]+$/.test(text) ? text.replaceAll('_', '_<wbr>') : text;
      return `<a href="${escapeHtml(address)}">${content}</a>`;
    },
    table(this: Renderer, { header, rows }: Tokens.Table) {
      const inline = (cell: Tokens.TableCell) => this.parser.parseInline(cell.tokens);
      const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
      const body = rows
        .map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>\n`)
        .join('');
      const label = escapeHtml(header.map(({ text }) => text).join(', '));
      return `<div class="table" role="group" aria-label="Table: ${label}" tabindex="0"><table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>\n`;
    },
    // Comments say why a sample is not run. Other markup is not allowed.
    html({ text }) {
      if (/^\s*<!--.*-->\s*$/s.test(text)) return '';
      throw new Error(`No HTML in a page: ${text}`);
    },
  };
}
