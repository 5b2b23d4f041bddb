import { findText, listFiles } from './repository.ts';

/** Lines written by hand in one room, a directory of `services`, `packages` or `verification`. */
export interface Size {
  readonly room: string;
  /** Lines of TypeScript, JavaScript and CSS outside tests. */
  readonly code: number;
  readonly tests: number;
  /** Files of both. */
  readonly files: number;
}

const SOURCE = /\.(ts|tsx|mjs|cjs|js|css)$/;

/** The size of each room, largest first. Generated files are not in the repository and do not count. */
export function measureRooms(): Size[] {
  const rooms = new Map<string, Size>();
  for (const file of listFiles()) {
    const [, room] = /^((?:services|packages|verification)\/[^/]+)\//.exec(file) ?? [];
    if (room === undefined || !SOURCE.test(file)) continue;
    const { code, tests, files } = rooms.get(room) ?? { code: 0, tests: 0, files: 0 };
    const lines = (findText(file) ?? '').trimEnd().split('\n').length;
    const isTest = /\/test\//.test(file);
    rooms.set(room, {
      room,
      code: code + (isTest ? 0 : lines),
      tests: tests + (isTest ? lines : 0),
      files: files + 1,
    });
  }
  return [...rooms.values()].toSorted((a, b) => b.code + b.tests - a.code - a.tests);
}

/** The table of sizes as Markdown, with the sums in the last row. */
export function toSizesTable(sizes: readonly Size[]): string {
  const sum = (pick: (size: Size) => number) => sizes.reduce((total, size) => total + pick(size), 0);
  const total = {
    room: 'all',
    code: sum((s) => s.code),
    tests: sum((s) => s.tests),
    files: sum((s) => s.files),
  };
  const rows = [...sizes, total].map(
    ({ room, code, tests, files }) => `| ${room} | ${code} | ${tests} | ${files} |`,
  );
  return ['| Room | Code | Tests | Files |', '|---|--:|--:|--:|', ...rows].join('\n');
}

/** Reads a table that `toSizesTable` wrote, without the row of sums. */
export function parseSizesTable(text: string): Size[] {
  return [...text.matchAll(/^\| (\S+\/\S+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map(
    ([, room = '', ...numbers]) => {
      const [code = 0, tests = 0, files = 0] = numbers.map(Number);
      return { room, code, tests, files };
    },
  );
}
