import { useRotation } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Facts, Row } from '../../ui/card.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Authentication } from './authentication.tsx';
import { NotChanged } from './not-changed.tsx';
import { SecretOnce } from './secret-once.tsx';
import { text } from './texts.ts';

const TYPES = { server: 'typeServer', public: 'typePublic' } as const;

/** The secret with its rotation, and how the app authenticates itself. */
export function Credentials({ app }: { readonly app: DeveloperApp }) {
  const rotation = useRotation(app.clientId);
  return (
    <>
      <NotChanged error={rotation.error} undone="notRotated" unknown="rotationUnknown" />
      {rotation.data === undefined ? null : <SecretOnce {...rotation.data} />}
      <Card label={text('credentials')}>
        <Facts
          facts={[
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
              onConfirm={rotation.mutate}
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
