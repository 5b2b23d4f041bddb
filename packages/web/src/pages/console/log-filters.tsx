import { PROBLEM_CODES } from '@phds/catalog/problems';
import { type FormEvent, useState } from 'react';
import type { RequestFilter } from '../../api/developer-apps.ts';
import { Button } from '../../ui/button.tsx';
import { Fields } from '../../ui/card.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import style from './log-filters.module.css';
import { text } from './texts.ts';

const ANY = '';
const STATUSES = {
  [ANY]: 'anyStatus',
  '2xx': 'succeeded',
  '3xx': 'unchanged',
  '4xx': 'refused4xx',
  '5xx': 'failed',
} as const;
const REQUEST_ID = /^req_[A-Za-z0-9]{1,60}$/;

/** Chooses a request by its id, or requests by status and code. */
export function Filters({
  filter,
  onChange,
}: {
  readonly filter: RequestFilter;
  readonly onChange: (filter: RequestFilter) => void;
}) {
  const { requestId: _, ...others } = filter;
  return (
    <>
      <IdField
        found={filter.requestId ?? ANY}
        onFind={(requestId) => onChange(requestId === ANY ? others : { requestId })}
      />
      <Fields>
        <Select
          label={text('status')}
          value={filter.status ?? ANY}
          onChange={(status) => onChange(toFilter({ ...others, status }))}
          options={Object.entries(STATUSES).map(([id, name]) => ({ id, text: text(name) }))}
        />
        <Select
          label={text('code')}
          value={filter.code ?? ANY}
          onChange={(code) => onChange(toFilter({ ...others, code }))}
          options={[{ id: ANY, text: text('anyCode') }, ...PROBLEM_CODES.map((id) => ({ id, text: id }))]}
        />
      </Fields>
    </>
  );
}

function IdField({
  found,
  onFind,
}: {
  readonly found: string;
  readonly onFind: (requestId: string) => void;
}) {
  const [shown, setShown] = useState(found);
  const [typed, setTyped] = useState(found);
  const [isWrong, setWrong] = useState(false);
  // Another filter has replaced the id.
  if (shown !== found) {
    setShown(found);
    setTyped(found);
    setWrong(false);
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const requestId = typed.trim();
    const isId = requestId === ANY || REQUEST_ID.test(requestId);
    setWrong(!isId);
    if (isId) onFind(requestId);
  };
  return (
    <form className={style['search']} onSubmit={submit}>
      <TextField
        label={text('requestId')}
        value={typed}
        onChange={setTyped}
        hint={text('requestIdHint')}
        error={isWrong ? text('requestIdWrong') : undefined}
      />
      <Button type="submit">{text('find')}</Button>
    </form>
  );
}

function toFilter({ status = ANY, code = ANY }: { status?: string; code?: string }): RequestFilter {
  const known = PROBLEM_CODES.find((one) => one === code);
  return { ...(status === ANY ? {} : { status }), ...(known === undefined ? {} : { code: known }) };
}
