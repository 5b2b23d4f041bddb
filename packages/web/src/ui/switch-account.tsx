import { useRelease } from '../api/approvals.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { AccountArea } from './account-area.tsx';
import { Button } from './button.tsx';
import { ErrorNotice } from './notice.tsx';

/**
 * The signed-in person on the approval screen, with the button to open the request with another account. The request is given back
 * first, because it belongs to the account that opened it.
 */
export function SwitchAccount({ approvalId }: { readonly approvalId: string }) {
  const change = useRelease(approvalId, () =>
    location.assign(`${signInUrl(`/approve/${approvalId}`)}&switch=1`),
  );
  return (
    <AccountArea
      button={
        <Button kind="quiet" isBusy={change.isPending || change.isSuccess} onPress={() => change.mutate()}>
          {text('switchAccount')}
        </Button>
      }
      failure={
        change.error === null ? null : <ErrorNotice error={change.error} title={text('notSwitched')} />
      }
    />
  );
}
