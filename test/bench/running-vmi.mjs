const at = '2026-08-01T10:00:00Z'
const registry = 'quay.io/kubevirt'
const condition = (type, status, more) => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: at,
  ...more,
})

/**
 * As virt-api, virt-controller and virt-handler leave it behind. One in a hundred cannot be migrated. `owner`: the VM that it is of;
 * `outdated`: it runs the launcher of an earlier release, and is labelled so.
 */
export function runningVmi({ name, namespace, index, owner, outdated = false }) {
  const nodeName = `worker-${(index % 3) + 1}`
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      namespace,
      annotations: {
        'kubevirt.io/latest-observed-api-version': 'v1',
        'kubevirt.io/storage-observed-api-version': 'v1',
        'kubevirt.io/cluster-instancetype-name': 'u1.medium',
        'kubevirt.io/cluster-preference-name': 'fedora',
        'kubevirt.io/vm-generation': '3',
      },
      labels: {
        'kubevirt.io/nodeName': nodeName,
        'kubevirt.io/vm': name,
        app: 'guest',
        ...(outdated && { 'kubevirt.io/outdatedLauncherImage': '' }),
      },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: specOf(name),
    status: statusOf({ name, nodeName, index, outdated }),
  }
}

const specOf = (name) => ({
  architecture: 'amd64',
  evictionStrategy: 'LiveMigrate',
  domain: {
    cpu: { cores: 1, sockets: 1, threads: 1, maxSockets: 4, model: 'host-model' },
    devices: {
      disks: [
        { name: 'root', disk: { bus: 'virtio' }, bootOrder: 1 },
        { name: 'cloudinit', disk: { bus: 'virtio' } },
      ],
      interfaces: [{ name: 'default', masquerade: {}, model: 'virtio', macAddress: '02:00:00:00:00:01' }],
      rng: {},
    },
    features: { acpi: { enabled: true }, smm: { enabled: true } },
    firmware: { uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223', bootloader: { efi: { secureBoot: false } } },
    machine: { type: 'pc-q35-rhel9.6.0' },
    memory: { guest: '4Gi', maxGuest: '16Gi' },
    resources: { requests: { memory: '4Gi', cpu: '1' } },
  },
  networks: [{ name: 'default', pod: {} }],
  terminationGracePeriodSeconds: 180,
  volumes: [
    { name: 'root', dataVolume: { name: `${name}-root` } },
    { name: 'cloudinit', cloudInitNoCloud: { userData: '#cloud-config\nssh_pwauth: false\n' } },
  ],
})

function statusOf({ name, nodeName, index, outdated }) {
  const pod = `a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const hundreds = Math.floor(index / 100)
  const migratable =
    index % 100 === hundreds % 20
      ? condition('LiveMigratable', 'False', {
          reason: 'HostDeviceNotLiveMigratable',
          message: 'VMI uses a PCI host device',
        })
      : condition('LiveMigratable', 'True')
  return {
    phase: 'Running',
    nodeName,
    activePods: { [pod]: nodeName },
    conditions: [
      condition('Ready', 'True'),
      migratable,
      condition('StorageLiveMigratable', 'True'),
      condition('AgentConnected', 'True'),
      condition('DataVolumesReady', 'True', { reason: 'AllDVsReady', message: 'All of the DVs are bound' }),
    ],
    currentCPUTopology: { cores: 1, sockets: 1, threads: 1 },
    guestOSInfo: {
      id: 'fedora',
      name: 'Fedora Linux',
      kernelRelease: '6.8.5-301.fc40.x86_64',
      prettyName: 'Fedora Linux 40 (Cloud Edition)',
      version: '40 (Cloud Edition)',
      versionId: '40',
    },
    interfaces: [
      {
        name: 'default',
        interfaceName: 'eth0',
        podInterfaceName: 'eth0',
        infoSource: 'domain, guest-agent',
        ipAddress: '10.244.1.17',
        ipAddresses: ['10.244.1.17', 'fd10:244::111'],
        linkState: 'up',
        mac: '02:00:00:00:00:01',
        queueCount: 1,
      },
    ],
    launcherContainerImageVersion: `${registry}/virt-launcher:${outdated ? 'v1.7.0' : 'v1.8.4'}`,
    machine: { type: 'pc-q35-rhel9.6.0' },
    memory: { guestAtBoot: '4Gi', guestCurrent: '4Gi', guestRequested: '4Gi' },
    migrationMethod: 'BlockMigration',
    migrationTransport: 'Unix',
    phaseTransitionTimestamps: ['Pending', 'Scheduling', 'Scheduled', 'Running'].map((phase) => ({
      phase,
      phaseTransitionTimestamp: at,
    })),
    qosClass: 'Burstable',
    runtimeUser: 107,
    selinuxContext: 'system_u:object_r:container_file_t:s0:c107,c659',
    volumeStatus: [
      {
        name: 'root',
        target: 'vda',
        persistentVolumeClaimInfo: {
          accessModes: ['ReadWriteMany'],
          capacity: { storage: '30Gi' },
          claimName: `${name}-root`,
          filesystemOverhead: '0',
          requests: { storage: '30Gi' },
          volumeMode: 'Block',
        },
      },
      { name: 'cloudinit', target: 'vdb', size: 1_048_576 },
    ],
  }
}
