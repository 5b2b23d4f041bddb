import { SCOPES } from '@phds/catalog/scopes';
import { useState } from 'react';
import { Soft, Stack } from '../../ui/card.tsx';
import { type Option, Select } from '../../ui/field.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { ScopePreview } from './scope-preview.tsx';

const OPTIONS: readonly Option[] = SCOPES.map(({ scope, title, category }) => ({
  id: scope,
  text: title,
  group: category,
}));

/** A preview of the data of each scope. */
export function MyDataPage() {
  const [scope, setScope] = useState<string>(readScope());
  const change = (chosen: string) => {
    setScope(chosen);
    history.replaceState(null, '', `?scope=${encodeURIComponent(chosen)}`);
  };
  return (
    <>
      <PageHeading
        title="My data at a glance"
        lead="Choose a part and see what an app would see if you shared it. Looking here shares nothing."
      />
      <Stack>
        <Narrow>
          <Select label="What an app would ask for" options={OPTIONS} value={scope} onChange={change} />
        </Narrow>
        <ScopePreview key={scope} scope={scope} />
        <Soft>Informational, not for diagnosis.</Soft>
      </Stack>
    </>
  );
}

function readScope(): string {
  const asked = new URLSearchParams(location.search).get('scope');
  return OPTIONS.find(({ id }) => id === asked)?.id ?? 'read:health-data:heart';
}
