import { GRANT_DAYS_DEFAULT } from '@phds/catalog/lifetimes';
import { useRef, useState } from 'react';
import { useDecision } from '../../api/approvals.ts';
import { Problem, violationOf } from '../../api/problem.ts';
import type { ApprovedTerms, Grant, PendingApproval } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Soft, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { Clock } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { findDayFault, KEPT, type Limits, LimitsChoice } from './limits-choice.tsx';
import { ScopeChoice } from './scope-choice.tsx';
import { WhoAsks } from './who-asks.tsx';

const SUMMARIES = ['read:aggregations', 'read:trends'];

/**
 * The form for a decision about an app's request. Choices are kept when it cannot be sent. Only its buttons submit it; Enter in a
 * field does not.
 */
export function ApprovalForm({
  approval,
  grant,
}: {
  readonly approval: PendingApproval;
  /** The existing sharing with the app, whose end and first day the approval sets. */
  readonly grant: Grant | null;
}) {
  const { app, requestedScopes } = approval;
  const [seen] = useState(approval);
  const [ticks, setTicks] = useState<ReadonlyMap<string, boolean>>(new Map());
  const chosen = findChosen(approval, seen, ticks);
  const [changes, setChanges] = useState<Partial<Limits>>({});
  const [isIncomplete, setIncomplete] = useState(false);
  const limits = toLimits(grant, changes);
  const decision = useDecision(approval.id);
  const fields = useRef<HTMLDivElement>(null);

  const decide = (share: boolean) => {
    const terms = share ? toTerms(approval, chosen, limits) : null;
    decision.mutate(terms, {
      onSuccess: (decided) => {
        if (decided === null) return;
        // Without a redirect, the same page shows the decision. Assigning a URL with a fragment would not reload it.
        if (decided.redirectUri === null) location.reload();
        else location.assign(decided.redirectUri);
      },
    });
  };
  const share = () => {
    // A partial date has an empty value, which would otherwise mean no limit.
    const wrong = fields.current?.querySelector<HTMLInputElement>('input:invalid') ?? null;
    setIncomplete(wrong !== null);
    if (wrong === null) decide(true);
    else wrong.focus();
  };

  return (
    <>
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
        <div ref={fields}>
          <LimitsChoice
            approval={approval}
            grant={grant}
            chosen={chosen}
            limits={limits}
            onChange={(change) => {
              setChanges({ ...changes, ...change });
              setIncomplete(false);
            }}
            dayFault={
              findDayFault(limits.dataFrom, grant) ??
              (isIncomplete ? 'Complete the date, or clear it to share everything.' : undefined) ??
              violationOf(decision.failure?.error, 'dataFrom')
            }
          />
        </div>
        <Soft>
          The request waits for you until <Clock at={approval.expiresAt} />. What you share is health data:
          the app answers for what it does with it, and we cannot take back what it has read.
        </Soft>
        <DecisionBar
          decision={decision}
          share={`Share ${chosen.size} of ${requestedScopes.length}`}
          onShare={chosen.size === 0 ? null : share}
          onDeny={() => decide(false)}
        />
      </Stack>
    </>
  );
}

/** The two buttons, and the message about a failed decision. */
function DecisionBar({
  decision,
  share,
  onShare,
  onDeny,
}: {
  readonly decision: ReturnType<typeof useDecision>;
  /** Text of the approve button. */
  readonly share: string;
  /** Null while nothing is chosen. */
  readonly onShare: (() => void) | null;
  readonly onDeny: () => void;
}) {
  const arrived = decision.isIdle ? arrivedProblem() : null;
  const isBusy = decision.isPending || decision.isSuccess;
  const isDenial = decision.variables === null;
  return (
    <div className={style['decision']}>
      {arrived === null ? null : <ErrorNotice error={arrived} title="Nothing was shared yet." />}
      <ChangeNotice
        failure={decision.failure}
        undone={isDenial ? 'Your answer did not reach the app yet.' : 'Nothing was shared yet.'}
        unknown="We could not find out whether your choice was saved."
        advice="Check your connection, then choose again. The same choice twice counts once."
      />
      <div className={style['buttons']}>
        <Button isBusy={isBusy} onPress={onDeny}>
          Do not share
        </Button>
        <Button kind="primary" isBusy={isBusy} isDisabled={onShare === null} onPress={() => onShare?.()}>
          {isBusy ? 'One moment…' : share}
        </Button>
      </div>
    </div>
  );
}

const DEFAULT_LIFE = String(GRANT_DAYS_DEFAULT);

/** An approval sets end and first day of all shared data, so the connection's values are kept unless changed. */
function toLimits(grant: Grant | null, changes: Partial<Limits>): Limits {
  if (grant !== null) return { life: KEPT, dataFrom: grant.dataFrom ?? '', ...changes };
  const limits = { life: DEFAULT_LIFE, dataFrom: '', ...changes };
  // The end of a connection that has expired in the meantime cannot be kept.
  return limits.life === KEPT ? { ...limits, life: DEFAULT_LIFE } : limits;
}

function toTerms(
  { requestedScopes }: PendingApproval,
  chosen: ReadonlySet<string>,
  { life, dataFrom }: Limits,
): ApprovedTerms {
  return {
    scopes: requestedScopes.map(({ scope }) => scope).filter((scope) => chosen.has(scope)),
    ...(life === KEPT ? { keepExpiry: true } : { expiresInDays: Number(life) }),
    dataFrom: dataFrom === '' ? null : dataFrom,
  };
}

/**
 * Determines the chosen scopes. Sensitive scopes must be ticked deliberately. Scopes already shared are ticked, because leaving
 * them out would end them, except those removed since the page was first shown.
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
  conflict: 'The app has changed its settings since it asked. Start again in the app.',
  step_up_required: 'What you chose is very personal. Sign in again to confirm that it is you, then share.',
  invalid_request: 'The choices could not be read. Please try again.',
};

/** The error of a decision submitted by a plain HTML form: the service redirects here with its code. */
function arrivedProblem(): Problem | null {
  const code = new URLSearchParams(location.search).get('problem') ?? '';
  const text = PROBLEMS[code];
  return text === undefined ? null : new Problem('REDIRECTED', 400, text);
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
