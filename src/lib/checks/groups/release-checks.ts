import { cpuVendorLabel, machineTypeLabel, type Named } from '../../kubevirt/snapshot.ts'
import { itemsOf } from '../../kube/known.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import { counted, someOf } from '../../kube/text.ts'
import { gatesOf, operatorOf } from '../../kubevirt/installation.ts'
import { nameOfNode } from '../../kubevirt/component-status.ts'
import { minorText } from '../../releases/release-breaks.ts'
import { type HypervisorStack, hypervisorOf, type Shift } from '../../releases/releases.ts'
import { compareVersions, type Version } from '../../releases/release-versions.ts'
import type { Deployment } from '../../kube/kinds/workload-kinds.ts'
import {
  type Check,
  checksOf,
  type Found,
  hopOf,
  instancesOf,
  type Question,
  lacksHop,
} from '../check-definition.ts'
import { keepGatesOff, shiftFinding, shiftsOfHop } from './customization-checks.ts'
import { atLeast } from './node-checks.ts'

const workloadCheck = checksOf('workloads')
const nodeCheck = checksOf('nodes')
const installationCheck = checksOf('installation')
const rightsCheck = checksOf('rights')

const sourcesOf = ({ sources = [] }: Shift): readonly string[] => sources.map((source) => `read ${source}`)

/** The row of the release data that a check of its own tells, where this hop brings it. */
const shiftOf = (id: string, question: Question): Shift | undefined =>
  shiftsOfHop(question).find((shift) => shift.check === id)

/** Another QEMU runs a VM only after it has migrated or was restarted, and none goes back to an older one. */
export const qemuJump = workloadCheck('qemu-jump', {
  title: 'the target runs VMs with the same QEMU',
  unchecked: 'QEMU versions were not compared',
  needs: ['instances'],
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    const hop = hopOf(question)
    const { running } = instancesOf(question)
    if (hop === undefined || running === 0) return undefined
    const [now, then] = [hypervisorOf(hop.from, question.releases), hypervisorOf(hop.to, question.releases)]
    if (now === undefined || then === undefined)
      return unknownStack(now === undefined ? hop.from : hop.to, question)
    if (minorText(now.qemu) === minorText(then.qemu)) return undefined
    return (compareVersions(hop.to, hop.from) < 0 ? jumpBack : jump)(now, then, running)
  },
})

const unknownStack = (version: Version, { releases }: Question): Found => ({
  level: 'info',
  summary: `the release data of ${releases.asOf} do not name the QEMU of ${version.text}: VMs may get another one`,
  remedy: ['kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones'],
})

const jump = (now: HypervisorStack, then: HypervisorStack, running: number): Found => ({
  level: 'info',
  summary: `QEMU goes from ${now.qemu} to ${then.qemu}, libvirt from ${now.libvirt} to ${then.libvirt}: ${counted(running, 'running VM', ['keeps', 'keep'])} the old ones until a migration or restart, and cannot migrate back after it. Guests may see other CPU features and devices after their next start`,
  remedy: [
    'kvup workloads update --canary 1 --until canary     moves one VM first, after an upgrade with --leave-paused',
  ],
})

/** No VM migrates to an older QEMU: there is no VM to try it with. */
const jumpBack = (now: HypervisorStack, then: HypervisorStack, running: number): Found => ({
  level: 'info',
  summary: `QEMU goes back from ${now.qemu} to ${then.qemu}, libvirt from ${now.libvirt} to ${then.libvirt}: ${counted(running, 'running VM', ['keeps', 'keep'])} the newer ones until a restart. Guests may see other CPU features and devices after it`,
  remedy: ['kvup workloads outdated     lists them, after the downgrade'],
})

/** What a release changes or takes away of what VMs have. */
export const vmsThatChange = workloadCheck('vms-that-change', {
  title: 'no running VM uses what the target changes or removes',
  unchecked: 'VMs that use what the target changes were not looked for',
  needs: ['instances'],
  needsTarget: true,
  lacks: lacksHop,
  assess: (question) =>
    shiftsOfHop(question)
      .filter(({ hits }) => hits !== undefined)
      .map((shift) => shiftFinding('vms-that-change', shift, question)),
})

/** Operating systems that come up with cgroup v1 unless they are told otherwise. */
const cgroupV1Systems =
  /^(?:Red Hat Enterprise Linux|CentOS(?: Linux| Stream)?|AlmaLinux|Rocky Linux|Oracle Linux(?: Server)?) [78]\b|^Ubuntu (?:18|20)\.|^Debian GNU\/Linux (?:9|10)\b|^Amazon Linux 2$/u

/** What a node has that a release gives up; the release data name these. */
const nodeTraits: Readonly<
  Record<string, { holds: (node: Node) => boolean; of: string; remedy: (name: string) => string }>
> = {
  ppc64le: {
    holds: ({ status }) => status?.nodeInfo?.architecture === 'ppc64le',
    of: 'of this architecture',
    remedy: () => 'kubectl get nodes -L kubernetes.io/arch     move VMs off these nodes first',
  },
  /** From Kubernetes 1.35 on the kubelet does not start on cgroup v1 unless it is told to. */
  'cgroup-v1': {
    holds: ({ status }) =>
      atLeast(status?.nodeInfo?.kubeletVersion, '1.35') === false &&
      cgroupV1Systems.test(status?.nodeInfo?.osImage ?? ''),
    of: 'whose operating system uses it by default',
    remedy: (name) =>
      `kubectl debug node/${name} -it --image=busybox -- stat -fc %T /host/sys/fs/cgroup     tmpfs is cgroup v1, cgroup2fs is v2 (untested)`,
  },
}

/** Nodes that the target gives up, now or soon. */
const nodeSupport = nodeCheck('node-support', {
  title: 'the target runs on every node',
  unchecked: 'support for the target on the nodes was not checked',
  needs: ['nodes'],
  needsTarget: true,
  lacks: (question) => lacksHop(question) ?? lacksTrait(question),
  assess: (question) =>
    shiftsOfHop(question)
      .filter(({ nodes }) => nodes !== undefined)
      .map((shift) => nodeFinding(shift, question)),
})

const traitOf = ({ nodes = '' }: Shift) => (Object.hasOwn(nodeTraits, nodes) ? nodeTraits[nodes] : undefined)

/** Newer release data may name what this kvup cannot look for. */
function lacksTrait(question: Question): string | undefined {
  const unknown = shiftsOfHop(question).find((shift) => shift.nodes !== undefined && !traitOf(shift))
  return unknown && `this kvup does not know how to tell which nodes are concerned by ${unknown.summary}`
}

function nodeFinding(shift: Shift, { snapshot }: Question): Found | undefined {
  const trait = traitOf(shift)
  const found = itemsOf(snapshot.nodes).filter((node) => trait?.holds(node))
  const [first] = found
  if (trait === undefined || first === undefined) return undefined
  const names = found.map(nameOfNode)
  return {
    level: shift.level ?? 'warning',
    summary: `${shift.summary}: ${counted(found.length, 'node', ['is', 'are'])} here ${trait.of} (${someOf(names)})`,
    objects: names.map((name) => `node/${name}`),
    remedy: [trait.remedy(first.metadata.name), ...sourcesOf(shift)],
  }
}

/** The vendor label of the node that a VM leaves is asked of the node that it goes to. */
const cpuVendors = workloadCheck('cpu-vendors', {
  title: 'VMs have a second node whose CPU is of the same vendor',
  unchecked: 'CPU vendors were not compared',
  needs: ['nodes', 'instances'],
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    const shift = shiftOf('cpu-vendors', question)
    const vendors = Map.groupBy(
      itemsOf(question.snapshot.nodes).filter((node) => vendorOf(node) !== undefined),
      (node) => vendorOf(node) ?? '',
    )
    if (shift === undefined || vendors.size < 2) return undefined
    const { nodes } = instancesOf(question)
    return [...vendors].map(([vendor, all]) => vendorFinding(vendor, all, { shift, nodes }))
  },
})

const vendorOf = ({ metadata }: Node): string | undefined =>
  Object.keys(metadata.labels ?? {})
    .find((key) => key.startsWith(cpuVendorLabel))
    ?.slice(cpuVendorLabel.length)

function vendorFinding(
  vendor: string,
  all: readonly Node[],
  { shift, nodes }: { shift: Shift; nodes: Readonly<Record<string, number>> },
): Found | undefined {
  const names = all.map(nameOfNode)
  const vms = names.reduce((sum, name) => sum + (nodes[name] ?? 0), 0)
  if (vms === 0) return undefined
  const alone = names.length < 2
  return {
    level: alone ? 'warning' : 'info',
    summary: `${shift.summary}: ${counted(vms, 'running VM', ['is', 'are'])} on ${counted(names.length, 'node')} with a CPU of ${vendor} (${someOf(names)})${alone ? ', and no other node has one: they can no longer migrate' : '; they no longer migrate to the others'}`,
    objects: names.map((name) => `node/${name}`),
    remedy: [`kubectl get nodes -l ${cpuVendorLabel}${vendor}=true`, ...sourcesOf(shift)],
  }
}

/** From v1.6 on the pod of a VM asks for a node that has its machine type; of those that upstream QEMU names it also deletes the old ones. */
export const machineTypes = workloadCheck('machine-types', {
  title: 'nodes and target know the machine type of every running VM',
  unchecked: 'machine types were not checked',
  needs: ['instances', 'nodes'],
  lacks: lacksHop,
  assess(question) {
    const nodes = itemsOf(question.snapshot.nodes)
    const offered = new Set(nodes.flatMap(({ metadata }) => machineTypesIn(metadata.labels)))
    const asked = [...instancesOf(question).machineTypes]
    return [
      offered.size === 0 ? notTold(asked.filter(([type]) => hasVersion.test(type))) : undefined,
      ...asked.map(([type, vms]) => {
        if (offered.size > 0 && !offered.has(type)) return notOffered(type, vms)
        return isDropped(type, question) ? dropped(type, vms, question) : undefined
      }),
    ]
  },
})

/** Not an alias such as `q35`, which each QEMU has. */
const hasVersion = /\d\.\d/u

function notTold(asked: readonly (readonly [type: string, vms: Named])[]): Found | undefined {
  if (asked.length === 0) return undefined
  const count = asked.reduce((sum, [, vms]) => sum + vms.count, 0)
  return {
    level: 'info',
    summary: `no node lists its machine types, so kvup did not check those of ${counted(count, 'running VM')} (${someOf(asked.map(([type]) => type))})`,
    objects: asked.flatMap(([, { names }]) => names).slice(0, 100),
    remedy: [
      `kubectl get nodes --show-labels | grep -o '${machineTypeLabel}[^=]*'     KubeVirt writes them from v1.5.1 on`,
    ],
  }
}

/** What may be typed into a shell. */
const plainType = /^[\w.-]+$/u

const machineTypesIn = (labels: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.keys(labels)
    .filter((key) => key.startsWith(machineTypeLabel))
    .map((key) => key.slice(machineTypeLabel.length))

const notOffered = (type: string, { count, names }: Named): Found => ({
  level: 'warning',
  summary: `no node has the machine type ${type} of ${counted(count, 'running VM')} (${someOf(names, count)}): from v1.6 on they can neither migrate nor restart`,
  objects: names,
  remedy: [
    plainType.test(type)
      ? `kubectl get nodes -L ${machineTypeLabel}${type}`
      : 'kubectl get nodes --show-labels',
    ...newType(type, names),
  ],
})

/** The names by which each QEMU has the newest type of a family: another family is other hardware to a guest, or another architecture. */
const families: readonly (readonly [RegExp, alias: string])[] = [
  [/^pc-q35-[\w.-]+$/u, 'q35'],
  [/^virt-[\w.-]+$/u, 'virt'],
  [/^s390-ccw-virtio-[\w.-]+$/u, 's390-ccw-virtio'],
]

function newType(old: string, [first = '']: readonly string[]): readonly string[] {
  const [namespace = '', name = ''] = first.split('/')
  const alias = families.find(([family]) => family.test(old))?.[1]
  if (alias === undefined)
    return [
      `kubectl -n ${namespace} get vm ${name} -o jsonpath='{.spec.template.spec.domain.machine.type}'     shows its machine type; try which other type its guest starts with`,
    ]
  const patch = { spec: { template: { spec: { domain: { machine: { type: alias } } } } } }
  return [
    `kubectl -n ${namespace} patch vm ${name} --type=merge -p '${JSON.stringify(patch)}'     then restart it: it gets the newest type of its family, and the guest may see new hardware (untested)`,
  ]
}

/** `pc-q35-4.1`: how QEMU itself names them; those of a distribution (`pc-q35-rhel9.6.0`) follow its own rules. */
const upstreamType = /^(?:pc-q35|pc-i440fx|virt|s390-ccw-virtio)-(?<major>\d+)\.(?<minor>\d+)$/u

/** QEMU from 10.1 on has no machine types that are six years old: of 10.1 those up to 4.1. */
function isExpired(type: string, qemu: string | undefined): boolean {
  const groups = upstreamType.exec(type)?.groups
  if (groups === undefined || qemu === undefined || atLeast(qemu, '10.1') !== true) return false
  const [major = 0, minor = 0] = qemu.split('.').map(Number)
  const age = major - Number(groups['major'])
  return age > 6 || (age === 6 && minor >= Number(groups['minor']))
}

function isDropped(type: string, question: Question): boolean {
  const hop = hopOf(question)
  if (hop === undefined) return false
  const { releases } = question
  return (
    isExpired(type, hypervisorOf(hop.to, releases)?.qemu) &&
    !isExpired(type, hypervisorOf(hop.from, releases)?.qemu)
  )
}

const dropped = (type: string, { count, names }: Named, { target, releases }: Question): Found => ({
  level: 'warning',
  summary: `QEMU ${target && hypervisorOf(target, releases)?.qemu} of ${target?.text} no longer has the machine type ${type}, and ${counted(count, 'running VM', ['has', 'have'])} it (${someOf(names, count)}): they can neither migrate nor restart`,
  objects: names,
  remedy: [...newType(type, names), 'See https://www.qemu.org/docs/master/about/deprecated.html'],
})

/** Images that were fixed by a digest of their own come by their tag from v1.7 on. */
export const operatorEnvironment = installationCheck('operator-environment', {
  title: 'the target reads every setting of virt-operator',
  unchecked: 'the settings of virt-operator were not checked',
  needs: ['operators'],
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    const shift = shiftOf('operator-environment', question)
    // By OLM the new CSV brings the whole environment.
    if (shift === undefined || question.method === 'olm') return undefined
    const { installation, manifest = [] } = question
    const brought = manifest.filter(
      (object): object is Deployment =>
        object.kind === 'Deployment' && object.metadata.name === 'virt-operator',
    )
    const pinned =
      brought.length > 0
        ? brought.flatMap((one) => operatorOf(one).pinned)
        : (installation.operator?.pinned ?? [])
    const names = pinned.map(({ env }) => env).filter((env) => env.endsWith('_SHASUM'))
    if (names.length === 0) return undefined
    return {
      level: 'warning',
      summary: `${shift.summary}; ${brought.length > 0 ? 'the manifest' : 'virt-operator'} has ${someOf(names)}: the target ignores them and pulls these images by tag`,
      objects: names,
      remedy: [
        `kubectl -n ${installation.namespace} get deployment virt-operator -o jsonpath='{.spec.template.spec.containers[0].env}'     replace each by VIRT_*_IMAGE with the digest`,
        ...sourcesOf(shift),
      ],
    }
  },
})

const screenshotRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'vm-screenshot' },
  rules: [
    {
      apiGroups: ['subresources.kubevirt.io'],
      resources: ['virtualmachineinstances/vnc/screenshot'],
      verbs: ['get'],
    },
  ],
}

/** Who may edit VMs could also look at their screens. */
export const screenshotRights = rightsCheck('screenshot-rights', {
  title: 'no user loses the right to take screenshots of VMs',
  unchecked: 'the right to take screenshots of VMs was not checked',
  needs: ['kubevirts'],
  alsoNeeds: (question) => (shiftOf('screenshot-rights', question) === undefined ? [] : ['editBindings']),
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    const shift = shiftOf('screenshot-rights', question)
    const bound = itemsOf(question.snapshot.editBindings ?? { known: true, items: [] })
    const [first] = bound
    if (shift === undefined || first === undefined) return undefined
    const names = bound.map(
      ({ namespace, name }) => `${namespace === undefined ? '' : `${namespace}/`}${name}`,
    )
    return {
      level: 'warning',
      summary: `${shift.summary}: ${counted(bound.length, 'binding', ['gives', 'give'])} this right (${someOf(names)}): their users can no longer take screenshots of VMs`,
      objects: bound
        .slice(0, 100)
        .map(({ namespace, name }) =>
          namespace === undefined ? `clusterrolebinding/${name}` : `rolebinding/${namespace}/${name}`,
        ),
      remedy: [
        `echo '${JSON.stringify(screenshotRole)}' | kubectl apply -f -     (untested)`,
        `kubectl${first.namespace === undefined ? '' : ` -n ${first.namespace}`} create ${first.namespace === undefined ? 'clusterrolebinding' : 'rolebinding'} vm-screenshot --clusterrole=vm-screenshot --group=GROUP     for each group that needs the right (untested)`,
        ...sourcesOf(shift),
      ],
    }
  },
})

/** Devices of networks that virt-controller asked for by itself. */
export const networkResources = workloadCheck('network-resources', {
  title: 'no network of a VM needs a device that the target does not ask for',
  unchecked: 'the devices of networks were not checked',
  needs: ['instances'],
  alsoNeeds: (question) =>
    isInjectionLeft(question) && instancesOf(question).networks.size > 0 ? ['networkDevices'] : [],
  needsTarget: true,
  lacks: lacksHop,
  assess(question) {
    const shift = shiftOf('network-resources', question)
    if (shift === undefined || !isInjectionLeft(question)) return undefined
    const { networks } = instancesOf(question)
    const used = itemsOf(question.snapshot.networkDevices ?? { known: true, items: [] }).filter(({ name }) =>
      networks.has(name),
    )
    if (used.length === 0) return undefined
    const vms = used.reduce((sum, { name }) => sum + (networks.get(name)?.count ?? 0), 0)
    const named = used.flatMap(({ name }) => networks.get(name)?.names ?? [])
    return {
      level: 'warning',
      summary: `${shift.summary}; ${counted(vms, 'running VM', ['has', 'have'])} such a network (${someOf(named, vms)}): ${someOf(used.map(({ name, resource }) => `${name} asks for ${resource}`))}. Without the injector they start without the device`,
      objects: named.slice(0, 100),
      remedy: [
        'kubectl get mutatingwebhookconfigurations     with the one of network-resources-injector, there is nothing to do',
        ...keepGatesOff([injection], question, 'without it, before the upgrade'),
        ...sourcesOf(shift),
      ],
    }
  },
})

const injection = 'ExternalNetResourceInjection'

/** Whether the hop turns it on: nobody has decided on the gate. */
function isInjectionLeft(question: Question): boolean {
  const { featureGates, disabledFeatureGates } = gatesOf(question.installation)
  return (
    shiftOf('network-resources', question) !== undefined &&
    !featureGates.includes(injection) &&
    !disabledFeatureGates.includes(injection)
  )
}

/** What a release breaks, by what it takes to see it, in the order in which it is printed within each group. */
export const releaseChecks: readonly Check[] = [
  operatorEnvironment,
  screenshotRights,
  nodeSupport,
  qemuJump,
  vmsThatChange,
  cpuVendors,
  machineTypes,
  networkResources,
]
