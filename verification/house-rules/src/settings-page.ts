import { importerSettings } from '../../../packages/cli/src/connection.ts';
import { operatorSettings } from '../../../packages/cli/src/operator/connection.ts';
import { serviceTokenSettings } from '../../../packages/cli/src/program/service-token.ts';
import { recordsSettings } from '../../../packages/cli/src/records/connection.ts';
import { configSchema as authorization } from '../../../services/authorization/src/config.ts';
import { configSchema as consent } from '../../../services/consent/src/config.ts';
import { configSchema as gateway } from '../../../services/gateway/src/config.ts';
import { configSchema as healthData } from '../../../services/health-data/src/config.ts';
import { type SettingRow, toSettingRows } from './settings-table.ts';

/** A heading of the page and the rows below it. */
export interface SettingsSection {
  readonly heading: string;
  readonly rows: readonly SettingRow[];
}

/** The settings of one service or command. */
export interface SettingsOwner {
  readonly name: string;
  readonly rows: readonly SettingRow[];
}

const SERVICES: readonly SettingsOwner[] = [
  { name: 'gateway', rows: toSettingRows(gateway) },
  { name: 'authorization', rows: toSettingRows(authorization) },
  { name: 'consent', rows: toSettingRows(consent) },
  { name: 'health-data', rows: toSettingRows(healthData) },
];

const COMMANDS: readonly SettingsSection[] = [
  { heading: '`phds service-token`', rows: toSettingRows(serviceTokenSettings) },
  { heading: '`phds import` and `phds imports`', rows: toSettingRows(importerSettings) },
  {
    heading: '`phds erase` and `phds restore`',
    rows: toSettingRows(operatorSettings(['authorization', 'consent', 'health-data'])),
  },
  { heading: '`phds records`', rows: toSettingRows(recordsSettings) },
];

/**
 * The settings that all owners have with the same meaning and form, and what remains to each. If their defaults differ, the shared
 * row lists them in the order of the owners.
 */
export function splitShared(owners: readonly SettingsOwner[]): {
  readonly shared: readonly SettingRow[];
  readonly remaining: readonly SettingsOwner[];
} {
  const [first, ...others] = owners;
  const shared = (first?.rows ?? []).flatMap((row) => {
    const same = others.map(({ rows }) => rows.find((other) => isSameSetting(row, other)));
    if (same.includes(undefined)) return [];
    const standards = new Set([row, ...same].map((each) => each?.standard ?? ''));
    return [{ ...row, standard: [...standards].join(', ') }];
  });
  const isOwn = (row: SettingRow) => !shared.some(({ name }) => name === row.name);
  return { shared, remaining: owners.map(({ name, rows }) => ({ name, rows: rows.filter(isOwn) })) };
}

function isSameSetting(one: SettingRow, other: SettingRow): boolean {
  return one.name === other.name && one.meaning === other.meaning && one.value === other.value;
}

function listSections(): SettingsSection[] {
  const everywhere = splitShared(SERVICES);
  const [gatewayRows, ...withRpcs] = everywhere.remaining;
  const behind = splitShared(withRpcs);
  return [
    { heading: 'Every service', rows: everywhere.shared },
    { heading: 'authorization, consent and health-data', rows: behind.shared },
    ...[gatewayRows, ...behind.remaining].flatMap((owner) =>
      owner === undefined ? [] : [{ heading: owner.name, rows: owner.rows }],
    ),
    ...COMMANDS,
  ];
}

const INTRODUCTION = `# Settings

Generated from the schemas of the settings by \`pnpm gen:settings\`; do not edit.

Settings are environment variables, read once at the start. For each \`KEY\`, \`KEY_FILE\` may name a file with the value instead: use it for
secrets. An empty value counts as absent. If settings are invalid, the process names all of them
without their values, in one line of its log, and ends with status 1 ([the line](observability.md#start-and-readiness)). Several
defaults of a shared setting are those of the services in the order of the heading, or gateway, authorization, consent, health-data.

[Deploying](deploy.md) explains what belongs together: keys, TLS, database roles, sessions and step-up. Migration jobs take
\`MIGRATION_DATABASE_URL\` ([order](deploy.md#order)).
`;

const HEAD = '| Setting | Meaning | Value | Default | Secret |\n|---|---|---|---|---|';

function toTable(rows: readonly SettingRow[]): string {
  const lines = rows.map(
    ({ name, meaning, value, standard, secret }) =>
      `| \`${name}\` | ${[meaning, value, standard, secret].join(' | ')} |`,
  );
  return [HEAD, ...lines].join('\n');
}

/** The text of docs/operations/settings.md. */
export function toSettingsPage(): string {
  const sections = listSections().map(({ heading, rows }) => `\n## ${heading}\n\n${toTable(rows)}\n`);
  return `${INTRODUCTION}${sections.join('')}`;
}
