import { serviceTokenSettings } from '../../../packages/cli/src/commands/service-token.ts';
import { importerSettings } from '../../../packages/cli/src/connection.ts';
import { operatorSettings } from '../../../packages/cli/src/operator/connection.ts';
import { recordsSettings } from '../../../packages/cli/src/records/connection.ts';
import { configSchema as authorization } from '../../../services/authorization/src/config.ts';
import { configSchema as consent } from '../../../services/consent/src/config.ts';
import { configSchema as gateway } from '../../../services/gateway/src/config.ts';
import { configSchema as healthData } from '../../../services/health-data/src/config.ts';
import { type SettingRow, toSettingRows } from './settings-table.ts';

/** A heading of the page and the rows below it. */
interface SettingsSection {
  readonly heading: string;
  readonly rows: readonly SettingRow[];
}

/** The settings of one service or command. */
interface SettingsOwner {
  readonly name: string;
  readonly rows: readonly SettingRow[];
}

const SERVICES: readonly SettingsOwner[] = [
  { name: 'gateway', rows: toSettingRows(gateway) },
  { name: 'authorization', rows: toSettingRows(authorization) },
  { name: 'consent', rows: toSettingRows(consent) },
  { name: 'health-data', rows: toSettingRows(healthData) },
];

const COMMANDS: readonly SettingsOwner[] = [
  { name: '`phds service-token`', rows: toSettingRows(serviceTokenSettings) },
  { name: '`phds import` and `phds imports`', rows: toSettingRows(importerSettings) },
  {
    name: "Operators' commands",
    rows: toSettingRows(operatorSettings(['authorization', 'consent', 'health-data'])),
  },
  { name: '`phds records`', rows: toSettingRows(recordsSettings) },
];

/**
 * The settings of all owners, each once, below the names of the owners that have it with the same meaning and form. If their
 * defaults differ, the row lists them in the order of the owners. Settings that more owners have come first.
 */
export function groupByOwners(owners: readonly SettingsOwner[]): SettingsSection[] {
  const groups = new Map<string, { count: number; rows: SettingRow[] }>();
  const all = owners.flatMap(({ rows }) => rows);
  for (const row of all) {
    const having = owners.filter(({ rows }) => rows.some((other) => isSameSetting(row, other)));
    const names = having.map(({ name }) => name);
    const heading = names.length === owners.length ? 'Every service' : enumerate(names);
    const group = groups.get(heading) ?? { count: names.length, rows: [] };
    groups.set(heading, group);
    if (group.rows.some(({ name }) => name === row.name)) continue;
    const standards = new Set(
      all.filter((other) => isSameSetting(row, other)).map(({ standard }) => standard),
    );
    group.rows.push({ ...row, standard: [...standards].join(', ') });
  }
  return [...groups]
    .toSorted(([, one], [, other]) => other.count - one.count)
    .map(([heading, { rows }]) => ({ heading, rows }));
}

function enumerate(names: readonly string[]): string {
  return new Intl.ListFormat('en', { style: 'long' }).format(names).replace(', and', ' and');
}

function isSameSetting(one: SettingRow, other: SettingRow): boolean {
  return one.name === other.name && one.meaning === other.meaning && one.value === other.value;
}

const INTRODUCTION = `# Settings

Generated from the schemas of the settings by \`pnpm gen:settings\`; do not edit.

Settings are environment variables, read once at the start. \`KEY_FILE\` may name a file with the value of \`KEY\`: use it for secrets. An
empty value counts as absent. A setting that is neither required nor has a default may be absent. Invalid settings end the process with
status 1 and are named, without values ([the line](observability.md#start-and-readiness)). Several defaults are those of the services in
the order of the heading, or gateway, authorization, consent, health-data. \`OTEL_*\`: [traces](observability.md#traces).
`;

/** Values whose form the name of the setting or its default says. */
const SELF_EVIDENT = [
  ...['ms', 'port', 'host:port', 'connections', 'date', 'apps', 'address', 'text', 'name'],
  '`true`, `false`',
];

function toList(rows: readonly SettingRow[]): string {
  const lines = rows.map(({ name, meaning, value, standard, secret }) => {
    const form = [SELF_EVIDENT.includes(value) ? '' : value, describeSecret(secret)]
      .filter(Boolean)
      .join('; ');
    const text = form === '' ? meaning : `${meaning.replace(/\.$/, '')} (${form}).`;
    return `- \`${name}\`: ${text}${describeDefault(standard)}`;
  });
  return lines.join('\n');
}

function describeDefault(standard: string): string {
  if (standard === 'none') return '';
  return standard.startsWith('required') ? ` R${standard.slice(1)}.` : ` Default: ${standard}.`;
}

function describeSecret(secret: string): string {
  if (secret === '') return '';
  return secret === 'yes' ? 'secret' : `secret ${secret}`;
}

/** The settings of a command; those of every service only by name. */
function toCommandText(rows: readonly SettingRow[], everywhere: readonly SettingRow[]): string {
  const isAbove = (row: SettingRow) =>
    everywhere.some((other) => isSameSetting(row, other) && row.standard === other.standard);
  const above = rows.filter(isAbove).map(({ name }) => `\`${name}\``);
  const own = toList(rows.filter((row) => !isAbove(row)));
  return above.length === 0 ? own : `${own}\n\n${above.join(', ')} as in [every service](#every-service).`;
}

/** The text of docs/operations/settings.md. */
export function toSettingsPage(): string {
  const sections = groupByOwners(SERVICES);
  const everywhere = sections[0]?.rows ?? [];
  const texts = [
    ...sections.map(({ heading, rows }) => `\n## ${heading}\n\n${toList(rows)}\n`),
    ...COMMANDS.map(({ name, rows }) => `\n## ${name}\n\n${toCommandText(rows, everywhere)}\n`),
  ];
  return `${INTRODUCTION}${texts.join('')}`;
}
