import { leaveSignedOut, useSignOut } from '../api/session.ts';
import { text } from '../texts/frame.ts';
import { AccountArea } from './account-area.tsx';
import { Button } from './button.tsx';
import { ChangeNotice } from './change-notice.tsx';

/** The signed-in person with the button to sign out, or the link to sign in. */
export function Account() {
  const signOut = useSignOut();
  const leave = () => signOut.mutate(undefined, { onSuccess: leaveSignedOut });
  return (
    <AccountArea
      isShort
      button={
        <Button kind="quiet" isBusy={signOut.isPending || signOut.isSuccess} onPress={leave}>
          {text('signOut')}
        </Button>
      }
      failure={
        signOut.failure === null ? null : (
          <ChangeNotice
            failure={signOut.failure}
            undone={text('signOutUndone')}
            unknown={text('signOutUnknown')}
            advice={text('signOutAdvice')}
          />
        )
      }
    />
  );
}
