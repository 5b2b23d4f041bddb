import type { ReactNode } from 'react';
import { hasSignedOut, isSignedOutHereOnly, useSession } from '../api/session.ts';
import { signInUrl } from '../api/sign-in.ts';
import { text } from '../texts/frame.ts';
import { ButtonAnchor } from '../ui/button.tsx';
import { Stack } from '../ui/card.tsx';
import { Narrow, PageHeading } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { Resource } from '../ui/resource.tsx';

/** The start page: for a signed-in person `children`, for others what the service promises and the sign-in. */
export function StartPage({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  return (
    <Resource isPage query={session}>
      {(found) =>
        found === null ? (
          <Narrow>
            <PageHeading title={text('startTitle')} lead={text('startLead')} />
            <Stack>
              <SignedOut />
              <ButtonAnchor kind="primary" href={signInUrl()}>
                {text('signIn')}
              </ButtonAnchor>
            </Stack>
          </Narrow>
        ) : (
          children
        )
      }
    </Resource>
  );
}

/** After a sign-out in this tab. */
function SignedOut() {
  if (!isSignedOutHereOnly()) {
    if (!hasSignedOut()) return null;
    return <Notice role="status" title={text('signedOut')} />;
  }
  return (
    <Notice role="alert" tone="warn" title={text('signedOutHere')}>
      {text('signedOutHereText')}
    </Notice>
  );
}
