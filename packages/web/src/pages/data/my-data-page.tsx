import { isScope, SCOPES, type Scope } from '@phds/catalog/scopes';
import { useState } from 'react';
import { Soft, Stack } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { groupByCategory, scopeTitle } from '../../ui/scopes.ts';
import { ScopePreview } from './scope-preview.tsx';
import { text } from './texts.ts';

const USUAL_SCOPE = 'read:health-data:heart';

/** A preview of the data of each scope. */
export function MyDataPage() {
  const [scope, setScope] = useState(readScope);
  const change = (chosen: string) => {
    if (!isScope(chosen)) return;
    setScope(chosen);
    history.replaceState(null, '', `?scope=${encodeURIComponent(chosen)}`);
  };
  const options = groupByCategory(SCOPES).flatMap(({ category, items }) =>
    items.map((item) => ({ id: item.scope, text: scopeTitle(item.scope), group: category })),
  );
  return (
    <>
      <PageHeading title={text('title')} lead={text('lead')} />
      <Stack>
        <Narrow>
          <Select label={text('choose')} options={options} value={scope} onChange={change} />
        </Narrow>
        <ScopePreview key={scope} scope={scope} />
        <Soft>{text('disclaimer')}</Soft>
      </Stack>
    </>
  );
}

function readScope(): Scope {
  const asked = new URLSearchParams(location.search).get('scope') ?? '';
  return isScope(asked) ? asked : USUAL_SCOPE;
}
