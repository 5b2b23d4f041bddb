import type { Language } from '@phds/catalog/languages';
import { type Scope, scopeTexts } from '@phds/catalog/scopes';
import { escapeHtml } from '../web/web-page.ts';

/** What the files of one type of data contain. */
export interface ArchivedData {
  readonly file: string;
  readonly scope: Scope;
  /** The public name of a type of readings; null for others. */
  readonly type: string | null;
  count: number;
  /** First and last day (YYYY-MM-DD); empty for items without a time. */
  from: string;
  to: string;
}

const TEXTS = {
  en: {
    title: 'My health data',
    made: 'Made on',
    lead: 'All your health data, connections, receipts and access history. Each type of data is in two files with the same content: CSV opens in a spreadsheet, JSON is for programs. Keep this archive safe.',
    type: 'Type of data',
    count: 'Records',
    period: 'From – to',
    files: 'Files',
    connections: 'Apps that you share or shared data with',
    receipts: 'Signed receipts of your decisions',
    history: 'Which app read what, and when',
    acts: 'Your downloads, and what people who run this service did about you',
    note: 'Times are in UTC. Data that arrived while the archive was made may be in only one of two files. Types that are not listed have no data.',
  },
  de: {
    title: 'Meine Gesundheitsdaten',
    made: 'Erstellt am',
    lead: 'Alle Ihre Gesundheitsdaten, Verbindungen, Belege und Zugriffe. Jede Datenart steht in zwei Dateien mit demselben Inhalt: CSV öffnet eine Tabellenkalkulation, JSON ist für Programme. Bewahren Sie dieses Archiv sicher auf.',
    type: 'Datenart',
    count: 'Einträge',
    period: 'Von – bis',
    files: 'Dateien',
    connections: 'Apps, mit denen Sie Daten teilen oder geteilt haben',
    receipts: 'Signierte Belege Ihrer Entscheidungen',
    history: 'Welche App wann was gelesen hat',
    acts: 'Ihre Downloads, und was die Betreiber dieses Dienstes getan haben, soweit es Ihr Konto betrifft',
    note: 'Zeiten sind in UTC angegeben. Daten, die während der Erstellung eintrafen, stehen vielleicht nur in einer von zwei Dateien. Zu nicht aufgeführten Datenarten gibt es keine Daten.',
  },
} as const satisfies Record<Language, Readonly<Record<string, string>>>;

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{padding:.3rem .8rem;text-align:start;border-bottom:1px solid #ccc}';

/** The page that says which file of the archive has what. */
export function toIndexPage(
  language: Language,
  now: Date,
  archived: readonly ArchivedData[],
  { connections, acts }: { readonly connections: number; readonly acts: number },
): string {
  const texts = TEXTS[language];
  const numbers = new Intl.NumberFormat(language);
  const scopes = scopeTexts(language);
  const link = (file: string) => `<a href="${escapeHtml(file)}">${escapeHtml(file)}</a>`;
  const row = (...cells: readonly string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  const rows = archived.map(({ file, scope, type, count, from, to }) =>
    row(
      escapeHtml([scopes[scope].title, ...(type === null ? [] : [type])].join(': ')),
      numbers.format(count),
      from === '' ? '' : `${from} – ${to}`,
      `${link(`${file}.csv`)}, ${link(`${file}.json`)}`,
    ),
  );
  const heads = [texts.type, texts.count, texts.period, texts.files].map((head) => `<th>${head}</th>`);
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${texts.title}</title><style>${STYLE}</style></head>
<body>
<h1>${texts.title}</h1>
<p>${texts.made} ${now.toISOString().slice(0, 16).replace('T', ' ')} UTC</p>
<p>${texts.lead}</p>
<table>
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
${row(texts.connections, numbers.format(connections), '', `${link('connections.csv')}, ${link('connections.json')}`)}
${row(texts.receipts, numbers.format(connections), '', link('receipts.json'))}
${row(texts.history, '', '', link('access-history.csv'))}
${row(texts.acts, numbers.format(acts), '', link('operator-acts.json'))}
</tbody>
</table>
<p>${texts.note}</p>
</body>
</html>
`;
}
