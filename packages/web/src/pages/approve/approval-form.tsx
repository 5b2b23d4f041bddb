import { GRANT_DAYS_CHOICES, GRANT_DAYS_DEFAULT } from '@phds/catalog/lifetimes';
import { type FormEvent, useState } from 'react';
import { useDecision } from '../../api/approvals.ts';
import { Problem, violationOf } from '../../api/problem.ts';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { Clock, dayFormat } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { ScopeChoice } from './scope-choice.tsx';
import { WhoAsks } from './who-asks.tsx';

const DAY_MS = 86_400_000;
const SUMMARIES = ['read:aggregations', 'read:trends'];
const DAYS = GRANT_DAYS_CHOICES.map((days) => ({
  id: String(days),
  text: days === 1 ? '1 day' : `${days} days`,
}));

/** The decision about an app's request. What was chosen stays when a submit fails. */
export function ApprovalForm({
  approval,
  grant,
}: {
  readonly approval: PendingApproval;
  /** What the person shares with the app already; the approval gives it its end and its first day. */
  readonly grant: Grant | null;
}) {
  const { app, requestedScopes } = approval;
  const [seen] = useState(approval);
  const [ticks, setTicks] = useState<ReadonlyMap<string, boolean>>(new Map());
  const chosen = findChosen(approval, seen, ticks);
  const [days, setDays] = useState(String(GRANT_DAYS_DEFAULT));
  const [firstDay, setFirstDay] = useState<string | null>(null);
  const dataFrom = firstDay ?? grant?.dataFrom ?? '';
  const decision = useDecision(approval.id);
  const arrived = decision.isIdle ? arrivedProblem() : null;
  const isBusy = decision.isPending || decision.isSuccess;

  const decide = (share: boolean) => {
    const scopes = requestedScopes.map(({ scope }) => scope).filter((scope) => chosen.has(scope));
    const day = dataFrom === '' ? null : dataFrom;
    const terms = share ? { scopes, expiresInDays: Number(days), dataFrom: day } : null;
    decision.mutate(terms, {
      onSuccess: (decided) => {
        if (decided !== null) location.assign(decided.redirectUri);
      },
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    decide(true);
  };

  return (
    <form onSubmit={submit}>
      <PageHeading title={`Share your health data with ${app.name}?`} />
      <Stack>
        <WhoAsks approval={approval} />
        <Card label="What to share">
          <h2>What to share</h2>
          <ScopeChoice
            scopes={requestedScopes}
            chosen={chosen}
            onChange={(scope, isChosen) => setTicks(new Map(ticks).set(scope, isChosen))}
          />
          {requestedScopes.some(({ scope }) => SUMMARIES.includes(scope)) ? <SummaryNotice /> : null}
        </Card>
        <Card label="How much and how long">
          <div className={style['choices']}>
            <Select
              label="For how long"
              options={DAYS}
              value={days}
              onChange={setDays}
              hint={`Until ${dayFormat.format(Date.now() + Number(days) * DAY_MS)}; then it ends by itself.`}
            />
            <TextField
              label="Only data from this day on"
              type="date"
              value={dataFrom}
              onChange={setFirstDay}
              hint="Empty: everything you have."
              error={violationOf(decision.failure?.error, 'dataFrom')}
            />
          </div>
          {grant === null ? null : <SharedAnyway grant={grant} approval={approval} />}
          <p>You can stop sharing at any time, with effect at once, and see every time the app looked.</p>
        </Card>
        <Soft>
          The request waits for you until <Clock at={approval.expiresAt} />. What you share is health data:
          the app answers for what it does with it, and we cannot take back what it has read.
        </Soft>
        <div className={style['decision']}>
          {arrived === null ? null : <ErrorNotice error={arrived} title="Nothing was shared yet." />}
          <ChangeNotice
            failure={decision.failure}
            undone={
              decision.variables === null
                ? 'Your answer did not reach the app yet.'
                : 'Nothing was shared yet.'
            }
            unknown="We could not find out whether your choice was saved."
            advice="Check your connection, then choose again. The same choice twice counts once."
          />
          <div className={style['buttons']}>
            <Button isBusy={isBusy} onPress={() => decide(false)}>
              Do not share
            </Button>
            <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={chosen.size === 0}>
              {isBusy ? 'One moment…' : `Share ${chosen.size} of ${requestedScopes.length}`}
            </Button>
          </div>
        </div>
      </Stack>
    </form>
  );
}

/**
 * What the person has ticked or left. What is sensitive takes a deliberate tick; what is shared already would end by leaving it
 * out, and what was shared when the page was first seen has been taken away since.
 */
function findChosen(
  { requestedScopes }: PendingApproval,
  seen: PendingApproval,
  ticks: ReadonlyMap<string, boolean>,
): Set<string> {
  const sharedAtFirst = new Set(
    seen.requestedScopes.filter(({ alreadyShared }) => alreadyShared).map(({ scope }) => scope),
  );
  const chosen = requestedScopes.filter(
    ({ scope, sensitive, alreadyShared }) =>
      ticks.get(scope) ?? (alreadyShared || !(sensitive || sharedAtFirst.has(scope))),
  );
  return new Set(chosen.map(({ scope }) => scope));
}

const PROBLEMS: Readonly<Record<string, string>> = {
  no_scopes_approved: 'Choose at least one thing to share, or do not share.',
  app_not_active: 'The app is not active at the moment.',
  invalid_request: 'The choices could not be read. Please try again.',
};

/** What was wrong with a decision that a plain form of another page sent: the service leads back here with its code. */
function arrivedProblem(): Problem | null {
  const code = new URLSearchParams(location.search).get('problem') ?? '';
  const text = PROBLEMS[code];
  return text === undefined ? null : new Problem(code.toUpperCase(), 400, text);
}

/** What is shared already and not asked for again: it goes on, under the terms that are chosen here. */
function SharedAnyway({ grant, approval }: { readonly grant: Grant; readonly approval: PendingApproval }) {
  const asked = new Set(approval.requestedScopes.map(({ scope }) => scope));
  const others = grant.scopes.filter((scope) => !asked.has(scope));
  if (others.length === 0) return null;
  return (
    <Notice>
      <strong>You share more with it already: {others.map(scopeTitle).join(', ')}.</strong>
      <span>
        If you share, that goes on too, until the end and from the day chosen here. You can take it away on{' '}
        <a href={`/apps/${grant.id}`} target="_blank" rel="noopener">
          the page of this connection
        </a>
        .
      </span>
    </Notice>
  );
}

function SummaryNotice() {
  return (
    <Notice tone="warn">
      <strong>Summaries and trends reach over everything you measure</strong>
      <span>
        They hold averages, highest and lowest values and daily or hourly points of all kinds of readings,
        also of kinds that you do not share one by one. They hold no single readings.
      </span>
    </Notice>
  );
}
