import type { BloodType, Gender } from '@phds/catalog/wire-names';
import type { ProfileStore } from '../app/ports.ts';
import { toDateText } from '../domain/dates.ts';
import { translated } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** Profiles. What is stored passed the checks of the domain, so its codes are the domain's. */
export function createPrismaProfiles(prisma: PrismaClient): ProfileStore {
  return {
    find: (userId) =>
      translated(async () => {
        const row = await prisma.profile.findUnique({ where: { userId } });
        if (row === null) return null;
        return {
          name: row.name,
          gender: row.gender as Gender | null,
          dateOfBirth: row.dateOfBirth === null ? null : toDateText(row.dateOfBirth),
          bloodType: row.bloodType as BloodType | null,
        };
      }),
    findTimeZone: (userId) =>
      translated(async () => {
        const row = await prisma.profile.findUnique({ where: { userId }, select: { timeZone: true } });
        return row?.timeZone ?? null;
      }),
  };
}
