import { GRANT_DAYS_CHOICES } from '@phds/catalog/lifetimes';
import { STANDING_SCOPES } from '@phds/catalog/scopes';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { Card } from '../../ui/card.tsx';
import { localDay } from '../../ui/days.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { formatList } from '../../ui/formats.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDay } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { PresentSharing } from './present-sharing.tsx';

const DAY_MS = 86_400_000;

/** The choice to keep the connection's current end. */
export const KEPT = 'kept';

/** How long an app may read, and how far back. */
export interface Limits {
  /** A number of days, or KEPT. */
  readonly life: string;
  /** YYYY-MM-DD; empty for no limit. */
  readonly dataFrom: string;
}

const DAYS = GRANT_DAYS_CHOICES.map((days) => ({
  id: String(days),
  text: days === 1 ? '1 day' : `${days} days`,
}));

/** Chooses the end and the first day, shown beside those of the existing sharing. */
export function LimitsChoice({
  approval,
  grant,
  chosen,
  limits: { life, dataFrom },
  onChange,
  dayFault,
}: {
  readonly approval: PendingApproval;
  readonly grant: Grant | null;
  readonly chosen: ReadonlySet<string>;
  readonly limits: Limits;
  readonly onChange: (change: Partial<Limits>) => void;
  readonly dayFault: string | undefined;
}) {
  const end =
    life === KEPT && grant !== null ? Date.parse(grant.expiresAt) : Date.now() + Number(life) * DAY_MS;
  const kept = grant === null ? [] : [{ id: KEPT, text: `As now, until ${formatDay(grant.expiresAt)}` }];
  return (
    <Card label="How much and how long">
      <div className={style['choices']}>
        <Select
          label="For how long"
          options={[...kept, ...DAYS]}
          value={life}
          onChange={(value) => onChange({ life: value })}
          hint={`Until ${formatDay(end)}; then it ends by itself.`}
        />
        <TextField
          label="Only data from this day on"
          type="date"
          value={dataFrom}
          onChange={(value) => onChange({ dataFrom: value })}
          max={latestDay(grant)}
          hint="Empty: everything you have."
          error={dayFault}
        />
      </div>
      {dataFrom === '' ? null : <StandingFacts approval={approval} grant={grant} />}
      {grant === null ? null : (
        <PresentSharing
          approval={approval}
          grant={grant}
          chosen={chosen}
          end={life === KEPT ? null : end}
          dataFrom={dataFrom}
        />
      )}
      <p>You can stop sharing at any time, with effect at once, and see every time the app looked.</p>
    </Card>
  );
}

/** Today, or the first day of the existing sharing if that is later. */
function latestDay(grant: Grant | null): string {
  const today = localDay(new Date().toISOString());
  return grant?.dataFrom != null && grant.dataFrom > today ? grant.dataFrom : today;
}

/** The error of a first day, if any. */
export function findDayFault(dataFrom: string, grant: Grant | null): string | undefined {
  return dataFrom > latestDay(grant)
    ? 'This day is in the future. Choose today or an earlier day.'
    : undefined;
}

/** Lists requested or shared data without dates, which a first day does not limit. */
function StandingFacts({
  approval,
  grant,
}: {
  readonly approval: PendingApproval;
  readonly grant: Grant | null;
}) {
  const all = new Set([...approval.requestedScopes.map(({ scope }) => scope), ...(grant?.scopes ?? [])]);
  const standing = STANDING_SCOPES.filter((scope) => all.has(scope)).map(scopeTitle);
  if (standing.length === 0) return null;
  return (
    <p>
      If you share {formatList(standing, 'disjunction')}, {approval.app.name} sees all of it, whatever first
      day you choose.
    </p>
  );
}
