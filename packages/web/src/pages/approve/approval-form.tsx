import { useCallback, useRef, useState } from 'react';
import { useDecision } from '../../api/approvals.ts';
import { serviceNow } from '../../api/client.ts';
import type { KnownApps } from '../../api/grants.ts';
import { violationOf } from '../../api/problem.ts';
import type { ApprovedTerms, Connection, PendingApproval } from '../../api/resources.ts';
import { Stack } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, formatLastDay } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { DecisionCard } from './decision-card.tsx';
import { LimitsChoice } from './limits-choice.tsx';
import { RequestEnd } from './request-end.tsx';
import { ReviewBar } from './review-bar.tsx';
import { ScopeChoice } from './scope-choice.tsx';
import { useShown } from './shown.ts';
import { type Choices, formatEnd, NO_CHOICES, type Terms, toApproved, toTerms } from './terms.ts';
import { text } from './texts.ts';
import { WhoAsks } from './who-asks.tsx';

/**
 * The form for a decision about an app's request. Choices are kept when it cannot be sent. It has no form element: only its two
 * buttons decide, and sharing needs the summary on the screen first.
 */
export function ApprovalForm({
  approval,
  known,
  isRefetching,
  onRefetch,
}: {
  readonly approval: PendingApproval;
  readonly known: KnownApps;
  readonly isRefetching: boolean;
  readonly onRefetch: () => void;
}) {
  const [seen] = useState(approval);
  const [choices, setChoices] = useState(NO_CHOICES);
  const terms = toTerms(approval, choices, serviceNow());
  const { decision, decide, hasTried, setTried, summary, dayField } = useSubmission(approval, terms);
  const isDeciding = decision.isPending || decision.isSuccess;
  const onOver = useCallback(() => {
    if (!isDeciding) onRefetch();
  }, [isDeciding, onRefetch]);
  const change = (part: Partial<Choices>) => {
    setChoices({ ...choices, ...part });
    setTried(false);
  };

  return (
    <Stack>
      <WhoAsks approval={approval} until={formatEnd(terms)} known={known} />
      <div className={style['columns']}>
        <ScopeChoice
          scopes={approval.requestedScopes}
          chosen={terms.chosen}
          firstDay={terms.dayFault === null ? terms.firstDay : null}
          onChange={(scope, isChosen) => change({ ticks: new Map(choices.ticks).set(scope, isChosen) })}
        />
        <Stack>
          <LimitsChoice
            approval={approval}
            terms={terms}
            onChange={change}
            dayFault={dayFaultText(terms, hasTried) ?? refusedDay(decision.failure?.error)}
            dayField={dayField}
          />
          <ChangedMeanwhile seen={seen} approval={approval} />
          <DecisionCard
            approval={approval}
            terms={terms}
            decision={decision}
            isRefetching={isRefetching}
            summary={summary}
            onShare={() => decide(true)}
            onDeny={() => decide(false)}
            onStop={(scopes) => change({ ticks: untick(choices.ticks, scopes) })}
          />
        </Stack>
      </div>
      <ReviewBar summary={summary} count={terms.chosen.length}>
        <RequestEnd approval={approval} onOver={onOver} />
      </ReviewBar>
    </Stack>
  );
}

function untick(ticks: Choices['ticks'], scopes: readonly string[]): Choices['ticks'] {
  return new Map([...ticks, ...scopes.map((scope) => [scope, false] as const)]);
}

/** Sends the decision, and before it checks the first day and that the summary has been on the screen. */
function useSubmission({ id, revision }: PendingApproval, terms: Terms) {
  const [hasTried, setTried] = useState(false);
  const decision = useDecision(id);
  const summary = useRef<HTMLDivElement>(null);
  const dayField = useRef<HTMLDivElement>(null);
  const show = useShown(summary, revision);
  const send = (approved: ApprovedTerms | null) =>
    decision.mutate(
      { terms: approved, revision },
      {
        onSuccess: (decided) => {
          if (decided === null) return;
          // Without a redirect, the same page shows the decision. Assigning a URL with a fragment would not reload it.
          if (decided.redirectUri === null) location.reload();
          else location.assign(decided.redirectUri);
        },
      },
    );
  const decide = (share: boolean) => {
    if (!share) return send(null);
    setTried(true);
    if (terms.dayFault !== null) dayField.current?.querySelector('input')?.focus();
    else if (show()) send(toApproved(terms));
  };
  return { decision, decide, hasTried, setTried, summary, dayField };
}

/** A future day is reported at once, a missing one when the person tries to share. */
function dayFaultText({ dayFault }: Terms, hasTried: boolean): string | undefined {
  if (dayFault === 'future') return text('dayFuture');
  return dayFault === 'missing' && hasTried ? text('dayMissing') : undefined;
}

function refusedDay(error: unknown): string | undefined {
  return violationOf(error, 'dataFrom') === undefined ? undefined : text('dayRefused');
}

/** Tells what has changed in the sharing with the app since the page was opened, for example in another window. */
function ChangedMeanwhile({
  seen,
  approval,
}: {
  /** The request as it was when the page was opened. */
  readonly seen: PendingApproval;
  readonly approval: PendingApproval;
}) {
  return (
    <div role="status" className={style['message']}>
      {seen.revision === approval.revision ? null : (
        <Notice tone="warn" title={text('changedMeanwhile', { app: approval.app.name })}>
          <span>{text('before', { terms: describe(seen.connection) })}</span>
          <span>{text('now', { terms: describe(approval.connection) })}</span>
          <span>{text('checkAgain')}</span>
        </Notice>
      )}
    </div>
  );
}

function describe(connection: Connection | null): string {
  if (connection === null) return text('nothingShared');
  const { scopes, expiresAt, dataFrom } = connection;
  const values = { items: formatList(scopes.map(scopeTitle)), until: formatLastDay(expiresAt) };
  return dataFrom === null
    ? text('termsEverything', values)
    : text('termsFrom', { ...values, day: formatDate(dataFrom) });
}
