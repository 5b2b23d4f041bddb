/** The set with or without a member. */
export function toggled<Member>(set: ReadonlySet<Member>, member: Member, isIn: boolean): Set<Member> {
  const next = new Set(set);
  if (isIn) next.add(member);
  else next.delete(member);
  return next;
}
