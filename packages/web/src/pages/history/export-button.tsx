import { type AccessFilter, toExportPath } from '../../api/accesses.ts';
import { ButtonAnchor } from '../../ui/button.tsx';
import { text } from './texts.ts';

/** Downloads all accesses that match the filter as CSV, streamed by the browser. */
export function ExportButton({ filter }: { readonly filter: AccessFilter }) {
  return (
    <ButtonAnchor href={toExportPath(filter)} download="access-history.csv">
      {text('export')}
    </ButtonAnchor>
  );
}
