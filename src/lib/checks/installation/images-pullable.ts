import type { ImageProbe } from '../../facts/image-probe.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'

/** Night C6: every image of the target, on one node of each pool, by pods that `--probe-images` makes. */
export const imagesPullable: Check = {
  id: 'images-pullable',
  group: 'installation',
  title: 'every image of the target can be pulled',
  findings: ['images-not-tried'],
  needs: ['probes'],
  needsTarget: true,
  needsProbes: true,
  blocks: true,
  assess(question) {
    const probes = itemsOf(question.evidence.probes ?? { known: true, items: [] })
    return [
      ...alike(probes, 'refused').map((some) => refused(some, question)),
      ...alike(probes, 'untried').map((some) => untried(some, question)),
    ]
  },
}

/** One finding for an image and a reason, on however many pools. */
function alike(probes: readonly ImageProbe[], is: ImageProbe['is']): readonly (readonly ImageProbe[])[] {
  const ofKind = probes.filter((probe) => probe.is === is)
  const groups = Map.groupBy(ofKind, ({ image, why, needed, node }) =>
    JSON.stringify(is === 'untried' && node === undefined ? [why, needed] : [image, why]),
  )
  return [...groups.values()]
}

const levelOf = (probes: readonly ImageProbe[]) =>
  probes.some(({ needed }) => needed) ? ('blocker' as const) : ('warning' as const)

function refused(probes: readonly ImageProbe[], question: Question): Finding {
  const [{ image = '', why = '' } = {}] = probes
  const asked = unique(probes.flatMap(({ node }) => node ?? []))
  return {
    id: 'images-pullable',
    level: levelOf(probes),
    summary: `${someOf(asked)} cannot pull ${image} (${forWhat(probes)}): ${why}${words(probes)}`,
    objects: objectsOf(probes),
    remedy: [
      helps(probes, question),
      ...asked.slice(0, 1).map((node) => `crictl pull ${image}     on ${node}`),
    ],
  }
}

function untried(probes: readonly ImageProbe[], { target }: Question): Finding {
  const [{ image, why = '', node } = {}] = probes
  const what = image === undefined || node === undefined ? forWhat(probes) : `${image} on ${node}`
  return {
    id: 'images-not-tried',
    level: levelOf(probes),
    summary: `nobody knows whether the image of ${what} can be pulled: ${why}`,
    objects: objectsOf(probes),
    remedy: [
      `kvup check --to ${target?.text} --manifest FILE --probe-images     once that is mended, or take the risk: --accept images-not-tried`,
    ],
  }
}

const unique = (names: readonly string[]): string[] => [...new Set(names)]
const forWhat = (probes: readonly ImageProbe[]): string => someOf(unique(probes.flatMap(({ of }) => of)))

function words(probes: readonly ImageProbe[]): string {
  const said = probes.find(({ message }) => message)?.message
  return said ? ` ("${said}")` : ''
}

/** All nodes of the pools that were asked on one of theirs. */
function objectsOf(probes: readonly ImageProbe[]): string[] {
  return unique(probes.flatMap(({ nodes }) => nodes.map((node) => `node/${node}`)))
}

/** Where releases are published. */
const publicRegistry = 'quay.io/kubevirt'

function helps(probes: readonly ImageProbe[], { installation: { name, namespace } }: Question): string {
  const [{ image = '', why = '' } = {}] = probes
  if (why === 'not allowed to pull it')
    return `kubectl -n ${namespace} patch kubevirt ${name} --type=merge -p '{"spec":{"imagePullSecrets":[{"name":"SECRET"}]}}'     a secret of that namespace that may pull it`
  if (why === 'not found' && !image.startsWith(`${publicRegistry}/`))
    return `skopeo copy --all docker://${publicRegistry}/${publicName(
      image,
      probes.flatMap(({ of }) => of),
    )} docker://${image}`
  return `skopeo inspect --raw docker://${image}     what the registry says`
}

/** Without registry and prefix. */
function publicName(image: string, of: readonly string[]): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  const name = [...of, 'virt-operator'].find((one) => last.includes(one))
  return name === undefined ? last : last.slice(last.indexOf(name))
}
