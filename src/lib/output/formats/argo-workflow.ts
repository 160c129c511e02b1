import type { FleetPlanDocument } from '../../fleet/fleet-plan.ts'
import { yamlText } from './yaml-text.ts'

/** The waves of a fleet plan for Argo Workflows: each wave a list of parallel steps, a suspend between them. The plan lies in the ConfigMap that the parameter names, the image is a parameter without a default. */
export function argoWorkflow({
  to,
  waves,
  soakSeconds,
}: Pick<FleetPlanDocument, 'to' | 'waves' | 'soakSeconds'>): string {
  const steps = waves.flatMap(({ wave, clusters }, index) => {
    const group = clusters.map((name, at) => ({
      name: `${wave === 0 ? 'canary' : `wave-${wave}`}-${at + 1}`,
      template: 'cluster',
      arguments: { parameters: [{ name: 'cluster', value: name }] },
    }))
    const pause =
      index < waves.length - 1 && soakSeconds > 0 ? [[{ name: `soak-${index + 1}`, template: 'soak' }]] : []
    return [group, ...pause]
  })
  const workflow = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: `kvup-fleet-${to.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-')}-` },
    spec: {
      entrypoint: 'waves',
      arguments: { parameters: [{ name: 'image' }, { name: 'plan', value: 'kvup-fleet-plan' }] },
      volumes: [{ name: 'plan', configMap: { name: '{{workflow.parameters.plan}}' } }],
      templates: [
        { name: 'waves', steps },
        ...(soakSeconds > 0 ? [{ name: 'soak', suspend: { duration: String(soakSeconds) } }] : []),
        {
          name: 'cluster',
          inputs: { parameters: [{ name: 'cluster' }] },
          container: {
            image: '{{workflow.parameters.image}}',
            command: ['kvup'],
            args: [
              'fleet',
              'upgrade',
              '--plan',
              '/plan/fleet-plan.yaml',
              '--only',
              '{{inputs.parameters.cluster}}',
              '--yes',
              '-o',
              'json',
            ],
            volumeMounts: [{ name: 'plan', mountPath: '/plan', readOnly: true }],
          },
        },
      ],
    },
  }
  return yamlText(workflow, true)
}
