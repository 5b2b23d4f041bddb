import { toDates } from '../domain/window.ts';
import { findOwnWindow, toSlice } from './data-window.ts';
import { toListAnswer } from './document.ts';
import type { ProfileStore, WeightReader } from './ports.ts';
import type { Read } from './released-read.ts';

/** One weight a local day, newest first. */
export function readWeight(ports: { readonly weights: WeightReader; readonly profiles: ProfileStore }): Read {
  return async (scope) => {
    const { ids, userId, query } = scope;
    const page = await ports.weights.list({
      userId,
      ...(await findOwnWindow(ports.profiles, scope)),
      dates: toDates(query.window),
      ...toSlice(query),
    });
    const publicIds = ids.toPublicIds('wgt', page.items);
    const items = page.items.map(({ weightKg, date }, index) => ({ id: publicIds[index], weightKg, date }));
    return toListAnswer(items, { ...query, total: page.total });
  };
}
