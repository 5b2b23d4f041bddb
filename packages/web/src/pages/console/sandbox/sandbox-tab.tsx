import type { DeveloperApp } from '../../../api/resources.ts';
import { Card, Soft } from '../../../ui/card.tsx';
import { linkTo } from '../../../ui/web-link.tsx';
import { Rich, text } from '../texts.ts';
import { Triggers } from './triggers.tsx';

/** What a developer can rehearse in a sandbox deployment: its people, what happens to their connections, and errors. */
export function Sandbox({ app: { clientId } }: { readonly app: DeveloperApp }) {
  return (
    <>
      <Card label={text('people')}>
        <h2>{text('people')}</h2>
        <Soft>{text('sandboxLead')}</Soft>
        <Soft>
          <Rich id="peopleText" components={{ sparse: <code />, empty: <code /> }} />
        </Soft>
      </Card>
      <Triggers clientId={clientId} />
      <Card label={text('errors')}>
        <h2>{text('errors')}</h2>
        <Soft>
          <Rich
            id="errorsText"
            components={{ field: <code />, ...linkTo('/docs/sandbox#errors-on-demand') }}
          />
        </Soft>
      </Card>
    </>
  );
}
