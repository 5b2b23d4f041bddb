import { useCallback, useEffect, useRef, useState } from 'react';
import { usePendingApproval } from '../../api/approvals.ts';
import { useKnownApps } from '../../api/grants.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Narrow } from '../../ui/layout.tsx';
import { EmptyPage, Loading } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { EndedRequest } from './ended-request.tsx';
import { text } from './texts.ts';

/** How long the form waits for the warning of an app with the same name, so that it does not move what the person reads. */
const WARNING_WAIT_MS = 1_500;

/** The approval screen: the app, its request, and the decision. */
export function ApprovalPage({ id }: { readonly id: string }) {
  const pending = usePendingApproval(id);
  const known = useKnownApps();
  const isLate = useIsLate();
  useFocusOnEnd(pending.data?.status);
  const { refetch } = pending;
  // Waits for a read that is under way: cancelling it would lose its answer.
  const onRefetch = useCallback(() => void refetch({ cancelRefetch: false }), [refetch]);
  if (pending.data?.status === 'pending' && known.isPending && !isLate) return <Loading />;
  return (
    <Resource isPage query={pending} notFound={<NoRequest />} whySignIn={text('whySignIn')}>
      {(approval) =>
        approval.status === 'pending' ? (
          <ApprovalForm
            approval={approval}
            known={known}
            isRefetching={pending.isFetching}
            onRefetch={onRefetch}
          />
        ) : (
          <Narrow>
            <EndedRequest approval={approval} />
          </Narrow>
        )
      }
    </Resource>
  );
}

/** Whether the page has waited long enough for what it can be drawn without. */
function useIsLate(): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), WARNING_WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}

/** Focuses the heading when the form disappears, because the request is decided or over. */
function useFocusOnEnd(status: string | undefined): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current === 'pending' && status !== 'pending') focusHeading();
    before.current = status;
  }, [status]);
}

function NoRequest() {
  return (
    <Narrow>
      <EmptyPage title={text('noRequest')}>
        <p>{text('noRequestWhy')}</p>
        <ButtonLink to="/apps">{text('apps')}</ButtonLink>
      </EmptyPage>
    </Narrow>
  );
}
