import { measureInTurn, type Side } from './measure.ts';
import { toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';

/** Measures sides in turn and reports them as ratios to the first. */
export async function reportBeside(sides: Readonly<Record<string, Side>>, rounds: number): Promise<string> {
  const measured = await measureInTurn(sides, rounds, console.log);
  const [[base = '', side] = []] = Object.entries(sides);
  const compared = { base, processes: [...(side?.processes.keys() ?? [])] };
  return [
    '',
    toTable(toSideColumns(compared), toSideRows(measured, compared)),
    '',
    toVerdict(measured.flatMap((round) => Object.values(round))),
  ].join('\n');
}
