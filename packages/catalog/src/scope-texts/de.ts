import type { CatalogTexts } from './en.ts';

export const DE: CatalogTexts = {
  categories: {
    'vital-signs': 'Vitalwerte',
    'activity-sleep-body': 'Aktivität, Schlaf und Körper',
    'mind-mood': 'Psyche und Stimmung',
    summaries: 'Zusammenfassungen',
    'medical-history': 'Krankengeschichte',
    'about-you': 'Über Sie',
  },
  scopes: {
    'read:health-data:heart': {
      title: 'Herz',
      description:
        'Ihre Herzfrequenz, auch in Ruhe und beim Gehen, ihre Variabilität und die Herzfrequenz Ihrer EKGs.',
    },
    'read:health-data:blood-pressure': {
      title: 'Blutdruck',
      description: 'Ihre Blutdruckmessungen, oberer und unterer Wert.',
    },
    'read:health-data:oxygen': {
      title: 'Blutsauerstoff',
      description: 'Die Sauerstoffsättigung Ihres Blutes.',
    },
    'read:health-data:respiratory': {
      title: 'Atmung',
      description:
        'Wie viele Atemzüge Sie pro Minute machen, von einem Gerät gemessen oder von einer Person eingetragen.',
    },
    'read:health-data:glucose': {
      title: 'Blutzucker',
      description: 'Ihre Blutzuckermessungen.',
    },
    'read:health-data:temperature': {
      title: 'Körpertemperatur',
      description: 'Ihre Messungen der Körpertemperatur.',
    },
    'read:health-data:activity': {
      title: 'Aktivität',
      description:
        'Ihre Schritte, Strecken, verbrauchte Energie, Trainingsminuten und Stockwerke, aber keine Orte oder Routen.',
    },
    'read:health-data:sleep': {
      title: 'Schlaf',
      description:
        'Wann und wie lange Sie geschlafen haben, Ihre Schlafphasen und die Zeit, die Sie wach oder im Bett waren.',
    },
    'read:health-data:body-composition': {
      title: 'Körpermaße',
      description: 'Jedes eingetragene Gewicht, Ihre Größe, Ihr Body-Mass-Index und Ihr Körperfett.',
    },
    'read:health-data:mindfulness': {
      title: 'Achtsamkeit',
      description: 'Wann und wie lange Sie meditiert oder Achtsamkeit geübt haben.',
    },
    'read:aggregations': {
      title: 'Zusammenfassung aller Gesundheitsdaten',
      description:
        'Umfasst alles, was Sie messen, auch nicht ausgewählte Arten: letzte, niedrigste, höchste und mittlere Werte jeder Stunde oder jedes Tages. Liegt in einer Stunde nur ein Messwert, ist es dieser.',
    },
    'read:trends': {
      title: 'Verläufe aller Gesundheitsdaten',
      description:
        'Umfasst alles, was Sie messen, auch nicht ausgewählte Arten: letzte, niedrigste, höchste und mittlere Werte jeder Stunde oder jedes Tages. Liegt in einer Stunde nur ein Messwert, ist es dieser.',
    },
    'read:symptoms': {
      title: 'Symptome',
      description: 'Die Symptome, die Sie in eigenen Worten notiert haben, mit Schwere und Zeitpunkt.',
    },
    'read:medications': {
      title: 'Medikamente',
      description:
        'Ihre Medikamente, wofür Sie sie nehmen und wann Sie sie eingenommen oder ausgelassen haben.',
    },
    'read:conditions': {
      title: 'Erkrankungen',
      description: 'Ihre jetzigen und früheren Erkrankungen, wie schwer sie sind und seit wann sie bestehen.',
    },
    'read:allergies': {
      title: 'Allergien',
      description: 'Ihre Allergien, wie schwer sie sind und seit wann sie bestehen.',
    },
    'read:appointments': {
      title: 'Arzttermine',
      description: 'Ihre vergangenen und kommenden Arzttermine: wann, wo und in welcher Fachrichtung.',
    },
    'read:weight': {
      title: 'Gewicht pro Tag',
      description: 'Ihr Gewicht, ein Wert pro Tag.',
    },
    'read:mood': {
      title: 'Stimmung',
      description: 'Wie Sie sich wann gefühlt haben, mit Ihren Notizen dazu.',
    },
    'read:reports': {
      title: 'Zusammenfassungen von Berichten',
      description: 'Die Zusammenfassungen Ihrer Gesundheitsberichte und ihre Zeiträume.',
    },
    'read:profile': {
      title: 'Profil',
      description: 'Ihr Name, Geschlecht, Geburtsdatum und Ihre Blutgruppe.',
    },
    'read:ehr': {
      title: 'Unterlagen von Ärzten und Kliniken',
      description:
        'Kurze Zusammenfassungen der Unterlagen Ihrer Ärzte und Kliniken, die jeden Bereich Ihrer Gesundheit betreffen können.',
    },
  },
};
