import { useState } from 'react';
import { type AccessFilter, fetchAccesses } from '../../api/accesses.ts';
import type { Access } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { saveFile } from '../../ui/save-file.ts';

const PAGE_SIZE = 100;
const COLUMNS = [
  'id',
  'at',
  'app',
  'clientId',
  'grantId',
  'scope',
  'endpoint',
  'from',
  'to',
  'recordCount',
  'outcome',
  'reason',
];

/** Saves all accesses that the filter lets through as CSV (RFC 4180). */
export function ExportButton({ filter }: { readonly filter: AccessFilter }) {
  const [progress, setProgress] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    setError(null);
    try {
      const lines = [COLUMNS.join(',')];
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        setProgress(`${page} of ${pages}`);
        const { data, pagination } = await fetchAccesses(filter, page, PAGE_SIZE);
        pages = pagination.totalPages;
        lines.push(...data.map(toLine));
      }
      saveFile('access-history.csv', new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }));
    } catch (caught) {
      setError(caught);
    } finally {
      setProgress(null);
    }
  };
  return (
    <div>
      <Button onPress={save} isBusy={progress !== null}>
        {progress === null ? 'Export as CSV' : `Reading page ${progress}…`}
      </Button>
      {error === null ? null : (
        <ErrorNotice error={error} title="The export is not complete, so nothing was saved." />
      )}
    </div>
  );
}

function toLine({ app, ...access }: Access): string {
  const row: Record<string, unknown> = { ...access, app: app.name, clientId: app.clientId };
  return COLUMNS.map((column) => toField(row[column])).join(',');
}

/** An app chooses its own name, so no field may begin as a formula of a spreadsheet. */
function toField(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
