import { setField } from '../field-remedy.ts'
import { operatorRule, pinnedTagRule } from '../../releases/hop-findings.ts'
import { type Version, versionOf } from '../../releases/release-versions.ts'
import { type Question, checksOf, type Found, lacksRelease } from '../check-definition.ts'
import type { ImageProbe } from '../../kubevirt/full-snapshot.ts'
import { itemsOf } from '../../kube/known.ts'
import { someOf } from '../../kube/text.ts'
import type { CustomResourceDefinition } from '../../kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../kube/object.ts'
import { noWayBack } from '../../kubevirt/stored-versions.ts'
import { reaches } from '../../releases/release-path.ts'
import type { Releases } from '../../releases/releases.ts'

const installationCheck = checksOf('installation')

/** Which operator may install which version by which method (facts 2.2, night U2). */
export const operatorNotOlder = installationCheck('operator-not-older', {
  title: 'virt-operator can install this version by this method',
  unchecked: 'the version of virt-operator was not checked',
  findings: ['operator-unknown', 'operator-runs-own-strategy', 'operator-goes-back', 'pinned-tag'],
  needs: ['operators'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { installation, target, method = 'operator-manifest' } = question
    const runs = versionOf(installation.operator?.version)
    if (target === undefined) return []
    if (runs === undefined) return [unknown(installation.namespace)]
    return [...operatorRule(runs, target, method), ...pinnedTag(question)]
  },
})

const unknown = (namespace: string): Found => ({
  id: 'operator-unknown',
  level: 'blocker',
  summary:
    'the Deployment of virt-operator does not show its version, so kvup cannot judge what it can install',
  remedy: [`kubectl -n ${namespace} get deployment virt-operator -o yaml`],
})

/** By these kvup replaces no operator while a tag is set. */
const leavesOperator: ReadonlySet<Question['method']> = new Set(['image-tag', 'olm'])

/** A tag that says what the operator would do anyway is taken out for the roll, and matters no more. */
function pinnedTag({ installation, method, target }: Question): readonly Found[] {
  const { imageTag, imageRegistry, operator } = installation
  const asOperator =
    imageTag === operator?.version && (imageRegistry ?? operator?.registry) === operator?.registry
  const pinned = versionOf(imageTag)
  if (leavesOperator.has(method) || asOperator || pinned === undefined || target === undefined) return []
  return pinnedTagRule(pinned, target)
}

/** Images that the operator's environment fixes win over imageTag (facts 2.1). */
export const imagesPinned = installationCheck('images-pinned', {
  title: 'the operator chooses its images by their tag',
  unchecked: 'the images that virt-operator uses were not checked',
  needs: ['operators'],
  needsTarget: true,
  blocks: true,
  assess({ installation, method, target }) {
    const pinned = installation.operator?.pinned ?? []
    if (method !== 'image-tag' || pinned.length === 0) return undefined
    return {
      level: 'blocker',
      summary: `the environment of virt-operator sets ${pinned.map(({ env }) => env).join(', ')}: imageTag changes the recorded version, not the images`,
      objects: pinned.map(({ env, image }) => `${env}=${image}`),
      remedy: [`kvup upgrade --to ${target?.text} --method operator-manifest`],
    }
  },
})

/** Every image of the target, on one node of each pool, by pods that `--probe-images` makes (night C6). */
export const imagesPullable = installationCheck('images-pullable', {
  title: 'every image of the target can be pulled',
  unchecked: 'the images of the target were not tried',
  findings: ['images-not-tried'],
  needs: ['probes'],
  needsTarget: true,
  needsProbes: true,
  blocks: true,
  assess(question) {
    const probes = itemsOf(question.snapshot.probes ?? { known: true, items: [] })
    return [
      ...alike(probes, 'refused').map((some) => refused(some, question)),
      ...alike(probes, 'untried').map((some) => untried(some)),
    ]
  },
})

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

function refused(probes: readonly ImageProbe[], question: Question): Found {
  const [{ image = '', why = '' } = {}] = probes
  const asked = unique(probes.flatMap(({ node }) => node ?? []))
  return {
    level: levelOf(probes),
    summary: `${someOf(asked)} cannot pull ${image} (${forWhat(probes)}): ${why}${words(probes)}`,
    objects: objectsOf(probes),
    ...(levelOf(probes) === 'blocker' && { standsAt: `the pull of ${image}` }),
    remedy: [
      ...helps(probes, question),
      ...asked.slice(0, 1).map((node) => `crictl pull ${image}     on ${node}`),
    ],
  }
}

function untried(probes: readonly ImageProbe[]): Found {
  const [{ image, why = '', node } = {}] = probes
  const what = image === undefined || node === undefined ? forWhat(probes) : `${image} on ${node}`
  return {
    id: 'images-not-tried',
    level: levelOf(probes),
    summary: `kvup did not check whether the image of ${what} can be pulled: ${why}`,
    objects: objectsOf(probes),
    remedy: ['check again once that is fixed'],
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

function helps(probes: readonly ImageProbe[], question: Question): readonly string[] {
  const [{ image = '', why = '' } = {}] = probes
  if (why === 'not allowed to pull it')
    return setField(
      question,
      'spec.imagePullSecrets',
      { add: [{ name: 'SECRET' }] },
      `SECRET: a secret of namespace ${question.installation.namespace} with the right to pull it`,
    )
  if (why === 'not found' && !image.startsWith(`${publicRegistry}/`))
    return [
      `skopeo copy --all docker://${publicRegistry}/${publicName(
        image,
        probes.flatMap(({ of }) => of),
      )} docker://${image}`,
    ]
  return [`skopeo inspect --raw docker://${image}     shows what the registry answers`]
}

/** Without registry and prefix. */
function publicName(image: string, of: readonly string[]): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  const name = [...of, 'virt-operator'].find((one) => last.includes(one))
  return name === undefined ? last : last.slice(last.indexOf(name))
}

/** A version that is still stored cannot be dropped, nor be one that the target does not have yet (facts 1.6); the update hangs with DeploymentFailed. */
export const crdStoredVersions = installationCheck('crd-stored-versions', {
  findings: ['no-way-back'],
  title: 'the CRDs store no version that the target lacks',
  unchecked: 'the stored versions of the CRDs were not checked',
  needs: ['crds'],
  needsTarget: true,
  lacks: (question) => (question.manifest === undefined ? lacksRelease(question) : undefined),
  blocks: true,
  assess({ snapshot, target, releases, rolloutStatus, manifest = [] }) {
    if (target === undefined) return []
    const crds = itemsOf(snapshot.crds)
    const back = noWayBack(target, crds, { rolloutStatus, releases })
    if (back !== undefined) return [back]
    return crds.flatMap((crd) => {
      const gone = new Set([...droppedBy(target, crd, releases), ...missingIn(manifest, crd)])
      const stored = crd.status?.storedVersions?.filter((version) => gone.has(version)) ?? []
      return stored.length > 0 ? [finding(crd, stored, target)] : []
    })
  },
})

function droppedBy(
  target: Version,
  { spec }: CustomResourceDefinition,
  releases: Releases,
): readonly string[] {
  return releases.droppedCrdVersions
    .filter((dropped) => dropped.group === spec?.group && reaches(target, dropped.in))
    .flatMap(({ versions }) => versions)
}

/** What the manifest brings for the same CRD decides, where it was given. */
function missingIn(
  manifest: readonly KubeObject[],
  { metadata, status }: CustomResourceDefinition,
): readonly string[] {
  const wanted = manifest.find(
    (object): object is CustomResourceDefinition =>
      object.kind === 'CustomResourceDefinition' && object.metadata.name === metadata.name,
  )
  const brought = wanted?.spec?.versions?.map(({ name }) => name)
  return brought === undefined ? [] : (status?.storedVersions ?? []).filter((name) => !brought.includes(name))
}

function finding(crd: CustomResourceDefinition, stored: readonly string[], target: Version): Found {
  const { name } = crd.metadata
  return {
    level: 'blocker',
    summary: `${name} has objects stored as ${stored.join(' and ')}, which ${target.text} drops: the API server refuses the new CRD, and the update hangs`,
    objects: [`customresourcedefinition/${name}`],
    standsAt: `the install strategy (CRD ${name})`,
    remedy: forgotten(crd, stored),
  }
}

/** Every object is written once in the version that is stored now; then the CRD may forget the old ones, unless that is one of them. */
function forgotten(
  { metadata: { name }, spec, status }: CustomResourceDefinition,
  stored: readonly string[],
): readonly string[] {
  const now = spec?.versions?.find((version) => version.storage)?.name ?? ''
  if (stored.includes(now))
    return [`upgrade over a release that stores another version than ${now}: kvup releases`]
  const overrides = status?.storedVersions?.filter((version) => !stored.includes(version)) ?? []
  const after = overrides.length > 0 ? overrides : [now]
  return [
    `kubectl get ${name} -A -o json | kubectl replace -f -     writes every object once, in the version that is stored now`,
    `then set status.storedVersions of the CRD to ${after.join(', ')}: an object that was not written anew can never be read again. Save all of them to a file first`,
  ]
}
