import type { ReactNode } from 'react';
import type { useRevocation } from '../../api/grants.ts';
import { Row } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { text } from './texts.ts';

/** Ends sharing after a confirmation, and says why it has not ended. */
export function StopSharing({
  revocation,
  isOffered,
  trigger,
  title,
  beside,
  children,
}: {
  readonly revocation: Pick<ReturnType<typeof useRevocation>, 'failure' | 'isPending'> & {
    readonly mutate: (change: undefined, then: { readonly onSuccess: () => void }) => void;
  };
  readonly isOffered: boolean;
  readonly trigger: string;
  readonly title: string;
  /** Another button in the same row. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <>
      <ChangeNotice failure={revocation.failure} undone={text('notStopped')} unknown={text('stopUnknown')} />
      {isOffered ? (
        <Row>
          {beside}
          <Confirmation
            trigger={trigger}
            title={title}
            confirm={trigger}
            isBusy={revocation.isPending}
            onConfirm={() => revocation.mutate(undefined, { onSuccess: focusHeading })}
          >
            {children}
          </Confirmation>
        </Row>
      ) : null}
    </>
  );
}
