import pages from './explanations.json' with { type: 'json' }

/** What docs/checks.md says of one finding. */
export interface Explanation {
  id: string
  text: string
}

/** Every heading of docs/checks.md, and the refusals below them; made by `npm run reference`. */
export const explanations: readonly Explanation[] = pages

/** What cannot be accepted, though it has a name. */
export function isRefusal({ text }: Explanation): boolean {
  return text.startsWith('Refused, and cannot be accepted.')
}
