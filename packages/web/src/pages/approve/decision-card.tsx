import type { ReactNode, Ref } from 'react';
import type { useDecision } from '../../api/approvals.ts';
import { Problem } from '../../api/problem.ts';
import type { Connection, PendingApproval } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Soft } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { Clock } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { findChanges } from './changes.ts';
import { ConnectionLink } from './connection-link.tsx';
import { toSummary } from './summary.ts';
import type { Terms } from './terms.ts';
import { Rich, text } from './texts.ts';

interface DecisionProps {
  readonly approval: PendingApproval;
  readonly terms: Terms;
  readonly decision: ReturnType<typeof useDecision>;
  /** Whether the request is being read again. */
  readonly isLooking: boolean;
}

/** The sentence that says what an approval would allow, and after it the two buttons. */
export function DecisionCard({
  summary,
  onShare,
  onDeny,
  ...rest
}: DecisionProps & {
  readonly summary: Ref<HTMLDivElement>;
  readonly onShare: () => void;
  readonly onDeny: () => void;
}) {
  const { approval, terms, decision } = rest;
  const { app, connection } = approval;
  const count = terms.chosen.length;
  const isBusy = decision.isPending || decision.isSuccess;
  return (
    <Card label={text('inShort')}>
      <h2>{text('inShort')}</h2>
      <div ref={summary} tabIndex={-1} role="status" className={style['summary']}>
        {toSummary(approval, terms).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {count === 0 && connection !== null ? (
        <p>
          <Rich id="stopElsewhere" components={{ link: <ConnectionLink id={connection.grantId} /> }} />
        </p>
      ) : null}
      <p>
        <strong>{text('stopAnyTime')}</strong> {text('responsible', { app: app.name })}
      </p>
      <FailureNotice {...rest} />
      <div className={style['buttons']}>
        <Button isBusy={isBusy} onPress={onDeny}>
          {text('deny')}
        </Button>
        <Button isBusy={isBusy || count === 0} onPress={onShare}>
          {isBusy ? text('oneMoment') : shareText(connection, terms)}
        </Button>
      </div>
      <Soft>
        <Rich id="waitsUntil" values={{ time: <Clock at={approval.expiresAt} /> }} />
      </Soft>
    </Card>
  );
}

/** Counts what the sentence names. With a connection, an approval can also end or shorten something, so there is no count. */
function shareText(connection: Connection | null, terms: Terms): string {
  const count = terms.chosen.length;
  if (connection === null) return count === 0 ? text('share') : text('shareTypes', { count });
  return text(count === 0 || findChanges(connection, terms).isSame ? 'agree' : 'agreeToChanges');
}

/** Why the latest decision was not made, or could not be confirmed. */
function FailureNotice({ approval, decision, isLooking }: DecisionProps): ReactNode {
  const { failure, variables } = decision;
  if (decision.isIdle) return <ArrivedProblem />;
  if (variables === undefined || failure === null) return null;
  if (failure.error instanceof Problem && failure.error.code === 'CONFLICT') {
    // Until the request is read again, it is unknown what has changed.
    if (isLooking) return null;
    const isConnection = variables.revision !== approval.revision;
    return (
      <div role="alert">
        <Notice tone="bad">
          <strong>
            {text(isConnection ? 'connectionChanged' : 'appChanged', { app: approval.app.name })}
          </strong>
          <span>{text(isConnection ? 'lookAgain' : 'startAgain', { app: approval.app.name })}</span>
        </Notice>
      </div>
    );
  }
  return (
    <ChangeNotice
      failure={failure}
      undone={text(variables.terms === null ? 'denialUndone' : 'undone')}
      unknown={text('unknown')}
      advice={text('unknownAdvice')}
    />
  );
}

const ARRIVED = new Map([
  ['no_scopes_approved', 'arrivedNothing'],
  ['app_not_active', 'arrivedNotActive'],
  ['conflict', 'arrivedConflict'],
  ['step_up_required', 'arrivedStepUp'],
  ['invalid_request', 'arrivedInvalid'],
] as const);

/** The error of a decision submitted by a plain HTML form: the service redirects here with its code. */
function ArrivedProblem() {
  const id = ARRIVED.get((new URLSearchParams(location.search).get('problem') ?? '') as 'conflict');
  if (id === undefined) return null;
  return <ErrorNotice error={new Problem('REDIRECTED', 400, text(id))} title={text('undone')} />;
}
