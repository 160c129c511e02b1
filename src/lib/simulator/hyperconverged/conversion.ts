import { CustomResourceDefinitions } from '../../cluster/kinds/extension.ts'
import { control } from '../machinery/controller.ts'
import { between } from '../machinery/luck.ts'
import { caBundle } from '../virt-operator/ca-bundle.ts'
import { names } from './names.ts'
import { look, type SelfContext } from './operator-self.ts'
import { upstreamMinor } from './upgrade-patches.ts'
import { shapeOf } from './versions.ts'

/** The process of an hco-webhook pod: from 1.18 on puts its conversion into the CRD, which OLM replaces without it (hco 8). */
export function runConversion(cx: SelfContext): Promise<void> {
  const ref = { name: names.definition }
  return control(cx, [{ kind: CustomResourceDefinitions, where: ref }], async () => {
    const found = await cx.reader.find(CustomResourceDefinitions, ref)
    if (found.is !== 'object' || upstreamMinor(cx.self.version) < 18) return look
    const { served, conversion } = shapeOf(found.object)
    const wanted = cx.faults.on.conversionLost === true || served.length === 1 ? 'None' : 'Webhook'
    if (conversion === wanted) return look
    await cx.clock.sleep(between(cx.random, 2000, 4000), cx.signal)
    const spec = { conversion: wanted === 'None' ? none : byWebhook(cx.self.namespace) }
    await cx.writer.mergePatch(CustomResourceDefinitions, ref, { spec })
    return look
  })
}

const none = { strategy: 'None', webhook: null }

const byWebhook = (namespace: string) => ({
  strategy: 'Webhook',
  webhook: {
    clientConfig: {
      service: { namespace, name: 'hco-webhook-service', path: '/convert', port: 4343 },
      caBundle,
    },
    conversionReviewVersions: ['v1'],
  },
})
