import { type AnySide, measureInTurn } from './measure.ts';
import { toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';

/** Measures sides in turn and reports them as ratios to the first. */
export async function reportBeside(
  sides: Readonly<Record<string, AnySide>>,
  rounds: number,
): Promise<string> {
  const measured = await measureInTurn(sides, rounds, console.log);
  const [base = ''] = Object.keys(sides);
  const processes = new Set(Object.values(sides).flatMap((side) => [...side.processes.keys()]));
  const compared = { base, processes: [...processes] };
  return [
    '',
    toTable(toSideColumns(compared), toSideRows(measured, compared)),
    '',
    toVerdict(measured.flatMap((round) => Object.values(round))),
  ].join('\n');
}
