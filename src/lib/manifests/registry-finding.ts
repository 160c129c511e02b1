import type { Deployment } from '../cluster/kinds/apps.ts'
import { shellWord } from '../system/shell-word.ts'
import type { Manifest } from './manifest.ts'
import { operatorContainer, operatorImage } from './operator-image.ts'

/** Finding `manifest-registry`: the images would come from elsewhere than today, and nobody asked for that. */
export function registryFinding({ operator, origin }: Manifest, running: Deployment | undefined) {
  const named = operatorImage(operatorContainer(operator)?.image)?.registry
  const now = running && operatorImage(operatorContainer(running)?.image)?.registry
  if (named === undefined || now === undefined || named === now) return []
  return [
    {
      id: 'manifest-registry',
      level: 'blocker' as const,
      summary: `the manifest ${origin} takes its images from ${named}, the operator that runs now from ${now}`,
      remedy: [
        `add --image-registry ${shellWord(now)}     keeps the one of today`,
        'or take it: add --accept manifest-registry',
      ],
    },
  ]
}
