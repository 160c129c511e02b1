import type { ObjectChange } from './changes.ts'
import { nameOf } from './name-of.ts'

const shown = 3
const longest = 60

/** Finding `manifest-conflicts` (the shape of checks): somebody else looks after fields that the manifest sets. */
export function conflictFindings(changes: readonly ObjectChange[]) {
  const disputed = changes.filter((change) => change.conflicts.length > 0)
  if (disputed.length === 0) return []
  return [
    {
      id: 'manifest-conflicts',
      level: 'blocker' as const,
      summary: `somebody else keeps fields that the manifest sets: ${disputed.flatMap(words).join('; ')}`,
      remedy: ['change it where it comes from, or take it over: add --accept manifest-conflicts'],
      objects: disputed.map(({ wanted }) => nameOf(wanted)),
    },
  ]
}

function words({ wanted, conflicts }: ObjectChange): string[] {
  return conflicts.map(({ manager, fields: paths }) => {
    const fields = [...new Set(paths.map(shortened))]
    const more = fields.length > shown ? ` and ${fields.length - shown} more` : ''
    return `${manager} has ${fields.slice(0, shown).join(', ')}${more} of ${nameOf(wanted)}`
  })
}

/** Deep in the schema of a CRD a path is longer than it says anything. */
function shortened(path: string): string {
  return path.length <= longest ? path : `${path.slice(0, longest)}…`
}
