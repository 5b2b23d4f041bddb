import { useCallback, useEffect, useRef } from 'react';
import { usePendingApproval } from '../../api/approvals.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Narrow } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { EndedRequest } from './ended-request.tsx';
import { text } from './texts.ts';

/** The approval screen: the app, its request, and the decision. */
export function ApprovalPage({ id }: { readonly id: string }) {
  const pending = usePendingApproval(id);
  useFocusOnEnd(pending.data?.status);
  const { refetch } = pending;
  // Waits for a read that is under way: cancelling it would lose its answer.
  const onRefetch = useCallback(() => void refetch({ cancelRefetch: false }), [refetch]);
  return (
    <Resource query={pending} notFound={<NoRequest />} whySignIn={text('whySignIn')}>
      {(approval) =>
        approval.status === 'pending' ? (
          <ApprovalForm approval={approval} isRefetching={pending.isFetching} onRefetch={onRefetch} />
        ) : (
          <Narrow isCentred>
            <EndedRequest approval={approval} />
          </Narrow>
        )
      }
    </Resource>
  );
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
    <Narrow isCentred>
      <EmptyPage title={text('noRequest')}>
        <p>{text('noRequestWhy')}</p>
        <ButtonLink to="/apps">{text('connectedApps')}</ButtonLink>
      </EmptyPage>
    </Narrow>
  );
}
