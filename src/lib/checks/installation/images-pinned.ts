import type { Check } from '../check.ts'

/** Facts 2.1: images that the operator's environment fixes win over imageTag. */
export const imagesPinned: Check = {
  id: 'images-pinned',
  group: 'installation',
  title: 'the operator chooses its images by their tag',
  needs: ['operators'],
  needsTarget: true,
  blocks: true,
  assess({ installation, method, target }) {
    const pinned = installation.operator?.pinned ?? []
    if (method !== 'image-tag' || pinned.length === 0) return []
    return [
      {
        id: 'images-pinned',
        level: 'blocker',
        summary: `its environment fixes ${pinned.map(({ env }) => env).join(', ')}: imageTag would change the recorded version, not the images`,
        objects: pinned.map(({ env, image }) => `${env}=${image}`),
        remedy: [`kvup upgrade --to ${target?.text} --method operator-manifest`],
      },
    ]
  },
}
