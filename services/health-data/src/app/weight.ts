import { toDates } from '../domain/window.ts';
import type { DataRequest } from './data-request.ts';
import { findOwnWindow, toSlice } from './data-window.ts';
import { type Answer, toListAnswer } from './document.ts';
import type { ProfileStore, WeightReader } from './ports.ts';

/** One weight for each local day, newest first. */
export async function readWeight(
  ports: { readonly weights: WeightReader; readonly profiles: ProfileStore },
  request: DataRequest,
): Promise<Answer> {
  const { ids, userId, parameters } = request;
  const page = await ports.weights.list({
    userId,
    ...(await findOwnWindow(ports.profiles, request)),
    dates: toDates(parameters.window),
    ...toSlice(parameters),
  });
  const publicIds = ids.toPublicIds('wgt', page.items);
  const items = page.items.map(({ weightKg, date }, index) => ({ id: publicIds[index], weightKg, date }));
  return toListAnswer(items, { ...parameters, total: page.total });
}
