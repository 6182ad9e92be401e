"""Words of the sample: what scripts/make_sample makes its sentences of."""

# English singular and plural, French singular and plural, gender. "_" joins the words of one entry;
# the last column, where words do not simply belong together, names the English word (from 0) of each
# French one, with "?" where the link is only possible.
NOUNS = {
    "person": """
        doctor doctors médecin médecins m
        teacher teachers professeur professeurs m
        neighbour neighbours voisin voisins m
        girl girls fille filles f
        boy boys garçon garçons m
        sister sisters sœur sœurs f
        brother brothers frère frères m
        friend friends ami amis m
        child children enfant enfants m
        woman women femme femmes f
        man men homme hommes m""",
    "animal": """
        cat cats chat chats m
        dog dogs chien chiens m
        horse horses cheval chevaux m
        bird birds oiseau oiseaux m
        cow cows vache vaches f""",
    "thing": """
        book books livre livres m
        car cars voiture voitures f
        house houses maison maisons f
        letter letters lettre lettres f
        bicycle bicycles vélo vélos m
        key keys clé clés f
        lamp lamps lampe lampes f
        computer computers ordinateur ordinateurs m
        chair chairs chaise chaises f""",
    "food": """
        apple apples pomme pommes f
        potato potatoes pomme_de_terre pommes_de_terre f
        cake cakes gâteau gâteaux m
        egg eggs œuf œufs m
        carrot carrots carotte carottes f
        apple_pie apple_pies tarte_aux_pommes tartes_aux_pommes f 1,0?,0""",
    "place": """
        garden gardens jardin jardins m
        school schools école écoles f
        train_station train_stations gare gares f
        village villages village villages m
        kitchen kitchens cuisine cuisines f
        forest forests forêt forêts f
        swimming_pool swimming_pools piscine piscines f""",
}

# English; French masculine and feminine singular, both plurals; where it stands; what it describes.
# A fifth French form, in brackets, is the masculine singular before a vowel.
ADJECTIVES = """
    red rouge rouge rouges rouges after thing,food
    green vert verte verts vertes after thing,food
    black noir noire noirs noires after animal,thing
    white blanc blanche blancs blanches after animal,thing
    expensive cher chère chers chères after thing,food
    tired fatigué fatiguée fatigués fatiguées after person,animal
    happy heureux heureuse heureux heureuses after person
    small petit petite petits petites before person,animal,thing,food,place
    big grand grande grands grandes before animal,thing,place
    young jeune jeune jeunes jeunes before person
    old vieux[vieil] vieille vieux vieilles before person,animal,thing,place"""

# English base, third person and past; French je, il, nous, vous, ils, infinitive, participle;
# who does it; to whom or what. Words of an English verb after "_" follow it: look at.
TRANSITIVE = """
    see sees saw vois voit voyons voyez voient voir vu person,animal person,animal,thing,place
    look_at looks_at looked_at regarde regarde regardons regardez regardent regarder regardé person,animal person,animal,thing
    buy buys bought achète achète achetons achetez achètent acheter acheté person animal,thing,food
    like likes liked aime aime aimons aimez aiment aimer aimé person,animal person,animal,food
    eat eats ate mange mange mangeons mangez mangent manger mangé person,animal food
    help helps helped aide aide aidons aidez aident aider aidé person person,animal
    wait_for waits_for waited_for attends attend attendons attendez attendent attendre attendu person person"""
INTRANSITIVE = """
    sleep sleeps slept dors dort dormons dormez dorment dormir dormi person,animal -
    work works worked travaille travaille travaillons travaillez travaillent travailler travaillé person -"""
GIVE = "give gives gave donne donne donnons donnez donnent donner donné person thing,food"
PHONE = ("phone phones phoned téléphone téléphone téléphonons téléphonez téléphonent téléphoner "
         "téléphoné person person")
AVOIR = ["ai", "a", "avons", "avez", "ont"]
ETRE = ["suis", "est", "sommes", "êtes", "sont"]
MODALS = {  # English with a third person, what follows it, French
    "can": ("can", "can", "", ["peux", "peut", "pouvons", "pouvez", "peuvent"]),
    "want": ("want", "wants", "to", ["veux", "veut", "voulons", "voulez", "veulent"]),
    "going": ("are", "is", "going to", ["vais", "va", "allons", "allez", "vont"]),
}
# English subject and object; French subject, direct and dative object; person, plural, gender.
PRONOUNS = [("I", "me", "je", "me", "me", 1, False, "m"),
            ("you", "you", "vous", "vous", "vous", 2, True, "m"),
            ("he", "him", "il", "le", "lui", 3, False, "m"),
            ("she", "her", "elle", "la", "lui", 3, False, "f"),
            ("we", "us", "nous", "nous", "nous", 1, True, "m"),
            ("they", "them", "ils", "les", "leur", 3, True, "m")]
POSSESSIVES = {"my": ("mon", "ma", "mes"), "your": ("votre", "votre", "vos"),
               "his": ("son", "sa", "ses"), "her": ("son", "sa", "ses"),
               "our": ("notre", "notre", "nos"), "their": ("leur", "leur", "leurs")}
NUMBERS = {"two": "deux", "three": "trois", "four": "quatre"}
NAMES = {"Marie": "f", "Paul": "m", "Anna": "f", "Louis": "m"}
ELIDED = {"le": "l'", "la": "l'", "je": "j'", "ne": "n'", "me": "m'", "de": "d'", "que": "qu'",
          "ce": "cet", "ma": "mon", "sa": "son"}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
VOWELS = "aeiouhéèêàâîœ"
