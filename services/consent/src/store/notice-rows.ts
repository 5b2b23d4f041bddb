import { isSandboxUser } from '@phds/catalog/sandbox';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { GrantTerms } from '../domain/grant.ts';
import type { Connection, NewNotice, Notice, NoticeContent } from '../domain/notice.ts';

/**
 * Adds a notice in the transaction of its cause. A second notice of one cause is ignored, and so is a notice for a sandbox person, whom
 * nobody can write to. The caller keeps the person from being
 * erased meanwhile (keepPerson), so that no notice outlives its person.
 */
export async function addNotice(tx: pg.ClientBase, notice: NewNotice): Promise<void> {
  const { id, at, userId, content } = notice;
  if (isSandboxUser(userId)) return;
  await execute(tx)`
    INSERT INTO notice (id, at, user_id, kind, content)
    VALUES (${id}, ${at}, ${userId}, ${content.kind}, ${JSON.stringify(content)}::jsonb)
    ON CONFLICT DO NOTHING`;
}

/**
 * Adds notices about grants, each unless its grant was erased meanwhile. The lock on a grant keeps it from being erased until
 * the transaction ends. Revoking one grant does not wait for it, because that updates no column of a key. What locks the grant
 * FOR UPDATE first waits until the commit: revoking all grants, narrowing, approving and erasing. Grants are locked in the
 * order of their ids.
 */
export async function addGrantNotices(tx: pg.ClientBase, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const contents = notices.map(({ content }) => JSON.stringify(content));
  const times = notices.map(({ at }) => at.toISOString());
  await execute(tx)`
    INSERT INTO notice (id, at, user_id, kind, content)
    SELECT n.id, n.at, g.user_id, n.content->>'kind', n.content
    FROM (
      SELECT id, at::timestamptz AS at, content::jsonb AS content
      FROM unnest(${notices.map(({ id }) => id)}::text[], ${times}::text[], ${contents}::text[]) AS t(id, at, content)
    ) n
    JOIN consent_grant g ON g.id = n.content->'connection'->>'grantId'
    ORDER BY g.id FOR KEY SHARE OF g
    ON CONFLICT DO NOTHING`;
}

/** The ids among these of which there is a notice already. */
export async function findNoticeIds(tx: pg.ClientBase, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await select<{ id: string }>(tx)`SELECT id FROM notice WHERE id = ANY(${ids}::text[])`;
  return new Set(rows.map(({ id }) => id));
}

/** The columns of a ConnectionRow: of a grant `g` and its app `a`. */
export const CONNECTION_COLUMNS = sql`g.user_id AS "userId", g.id AS "grantId", g.client_id AS "clientId",
  coalesce(shown_app_of(g.id, g.client_id, 'infinity')->>'name', a.name) AS "appName", g.scopes,
  g.expires_at AS "expiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "dataFrom"`;

/** A grant as read for a notice. */
export interface ConnectionRow extends GrantTerms {
  readonly userId: string;
  readonly grantId: string;
  readonly clientId: string;
  readonly appName: string;
}

export function toConnection(row: ConnectionRow): Connection {
  const { grantId, clientId, appName, scopes, expiresAt, dataFrom } = row;
  return { grantId, clientId, appName, terms: { scopes, expiresAt, dataFrom } };
}

/** A notice as read from the database. */
export interface NoticeRow {
  readonly id: string;
  readonly number: number;
  readonly at: Date;
  readonly userId: string;
  readonly content: Stored<NoticeContent>;
}

export function toNotice(row: NoticeRow): Notice {
  return { ...row, content: toContent(row.content) };
}

/** As read from JSON, where times are texts. */
type Stored<Value> = Value extends Date
  ? string
  : Value extends readonly string[]
    ? Value
    : Value extends object
      ? { readonly [Key in keyof Value]: Stored<Value[Key]> }
      : Value;

function toContent(content: Stored<NoticeContent>): NoticeContent {
  if (content.kind === 'app_reported') return content;
  const { terms, ...rest } = content.connection;
  const connection = { ...rest, terms: toTerms(terms) };
  if (content.kind !== 'connection_changed') return { ...content, connection };
  return { ...content, connection, before: toTerms(content.before) };
}

function toTerms(terms: Stored<GrantTerms>): GrantTerms {
  return { ...terms, expiresAt: new Date(terms.expiresAt) };
}
