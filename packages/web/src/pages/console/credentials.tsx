import { useRotation } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Facts, Row } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Authentication } from './authentication.tsx';
import { SecretOnce, Unseen } from './secret-once.tsx';
import { text } from './texts.ts';

const TYPES = { server: 'typeServer', public: 'typePublic' } as const;

/** The client ID, the secret with its rotation, and how the app authenticates itself. */
export function Credentials({ app }: { readonly app: DeveloperApp }) {
  const rotation = useRotation(app.clientId);
  return (
    <>
      <Rotated rotation={rotation} />
      <Card label={text('credentials')}>
        <Facts
          facts={[
            [text('clientId'), <code key="id">{app.clientId}</code>],
            [
              text('clientSecret'),
              app.secretLast4 === '' ? null : <code key="secret">…{app.secretLast4}</code>,
            ],
            [text('applicationType'), text(TYPES[app.applicationType])],
          ]}
        />
        {app.tokenEndpointAuthMethod === 'client_secret_basic' ? (
          <Row>
            <Confirmation
              trigger={text('rotate')}
              triggerKind="plain"
              title={text('rotateTitle')}
              confirm={text('rotateConfirm')}
              isBusy={rotation.isPending}
              onConfirm={() => rotation.mutate(undefined)}
            >
              <p>{text('rotateEffect')}</p>
            </Confirmation>
          </Row>
        ) : null}
      </Card>
      <Authentication app={app} />
    </>
  );
}

/** The new secret, or its status if the response was lost. */
function Rotated({ rotation }: { readonly rotation: ReturnType<typeof useRotation> }) {
  const { data, failure } = rotation;
  if (data) return <SecretOnce clientId={data.clientId} secret={data.clientSecret} />;
  if (data === null || failure?.outcome === 'made') {
    return <Unseen title={text('rotatedUnseen')} advice={text('rotatedUnseenAdvice')} />;
  }
  return (
    <ChangeNotice
      failure={failure}
      undone={text('notRotated')}
      unknown={text('rotationUnknown')}
      advice={text('rotationAdvice')}
    />
  );
}
