import { offsetOf } from '@phds/catalog/pagination';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { NewReport, ReportStore, StoredReport } from '../app/reports.ts';
import { type AppReport, REPEATED_WITHIN_SECONDS, type ReportSubject } from '../domain/app-report.ts';
import { keepPerson } from './person-locks.ts';

/** Reports in table `app_report`. */
export function createPgReports(pool: pg.Pool): ReportStore {
  return translatingErrors({
    add: (report, decide) => transact(pool, (tx) => add(tx, report, decide)),
    async list(clientId, page) {
      const where = clientId === null ? sql`true` : sql`r.client_id = ${clientId}`;
      const [items, counted] = await Promise.all([
        select<AppReport>(pool)`
          SELECT r.id, r.at, r.client_id AS "clientId", r.app_name AS "appName", r.redirect_host AS "redirectHost",
            a.name AS "currentAppName", r.reason, r.text, r.user_id AS "userId", r.grant_id AS "grantId",
            r.pending_id AS "pendingId"
          FROM app_report r JOIN app a ON a.client_id = r.client_id
          WHERE ${where} ORDER BY r.at DESC, r.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
        select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM app_report r WHERE ${where}`,
      ]);
      return { items, total: counted[0]?.total ?? 0 };
    },
  });
}

async function add(
  tx: pg.ClientBase,
  { id, userId, subject, reason, text }: NewReport,
  decide: (madeToday: number, now: Date) => void,
): Promise<StoredReport | null> {
  // An erasure waits for this transaction, or precedes it and leaves nothing to report.
  await keepPerson(tx, userId);
  // Serialises the reports of a person, so that their number is exact and a repetition finds the first one.
  await execute(tx)`SELECT pg_advisory_xact_lock(hashtextextended('reports of ' || ${userId}, 0))`;
  const app = await findApp(tx, subject, userId);
  if (app === null) return null;
  const { grantId = null, pendingId = null } = { ...subject } as Partial<
    Record<'grantId' | 'pendingId', string>
  >;
  const [same] = await select<StoredReport>(tx)`
    SELECT id, at FROM app_report
    WHERE user_id = ${userId} AND at >= statement_timestamp() - make_interval(secs => ${REPEATED_WITHIN_SECONDS}::int)
      AND grant_id IS NOT DISTINCT FROM ${grantId} AND pending_id IS NOT DISTINCT FROM ${pendingId}
      AND reason = ${reason} AND text = ${text}
    ORDER BY at, id LIMIT 1`;
  if (same !== undefined) return same;
  const [today] = await select<{ made: number; now: Date }>(tx)`
    SELECT count(*)::int AS made, statement_timestamp() AS now FROM app_report
    WHERE user_id = ${userId} AND at >= date_trunc('day', statement_timestamp(), 'UTC')`;
  if (today === undefined) throw new Error('a count without a row');
  decide(today.made, today.now);
  await execute(tx)`
    INSERT INTO app_report (id, at, client_id, app_name, redirect_host, reason, text, user_id, grant_id, pending_id)
    VALUES (${id}, ${today.now}, ${app.clientId}, ${app.name}, ${app.redirectHost}, ${reason}, ${text}, ${userId},
      ${grantId}, ${pendingId})`;
  return { id, at: today.now };
}

interface ShownToReporter {
  readonly clientId: string;
  readonly name: string;
  readonly redirectHost: string;
}

/** The app of a person's grant or claimed pending approval, as it was shown there. */
async function findApp(
  tx: pg.ClientBase,
  subject: ReportSubject,
  userId: string,
): Promise<ShownToReporter | null> {
  const shown =
    'grantId' in subject
      ? sql`
          SELECT client_id, shown_app_of(id, client_id, 'infinity') AS app FROM consent_grant
          WHERE id = ${subject.grantId} AND user_id = ${userId}`
      : sql`
          SELECT client_id, coalesce(shown_app, jsonb_build_object('redirectHost', redirect_host)) AS app
          FROM pending_approval WHERE id = ${subject.pendingId} AND claimed_by = ${userId}`;
  const [row] = await select<ShownToReporter>(tx)`
    SELECT s.client_id AS "clientId", coalesce(s.app->>'name', a.name) AS name,
      coalesce(s.app->>'redirectHost', '') AS "redirectHost"
    FROM (${shown}) s JOIN app a ON a.client_id = s.client_id`;
  return row ?? null;
}
